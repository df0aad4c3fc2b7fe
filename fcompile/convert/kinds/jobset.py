"""JobSet, as far as roles can say it: each replicated job of one Job is a role."""

from __future__ import annotations

from typing import Any

from fcompile.convert.fields import Fields
from fcompile.convert.jobset_labels import replace_labels
from fcompile.convert.ledger import Ledger
from fcompile.convert.lifetime import keep_finished_pods, set_time_to_live
from fcompile.convert.made import Made
from fcompile.convert.metadata import read_metadata
from fcompile.convert.replicated_jobs import (
    add_claims,
    apply_success_policy,
    finish,
    hosts_of,
    read_parts,
    require_no_order,
    tell_failure_policy,
    tell_network,
    tell_rest,
)
from fcompile.convert.run_first import run_once_first
from fcompile.convert.run_policy import read_run_policy

OPERATOR = "jobset.sigs.k8s.io/jobset-controller"


def convert_jobset(source: dict[str, Any]) -> Made:
    """Convert a JobSet. Raises Refusal."""
    ledger = Ledger()
    draft = read_metadata(source, ledger)
    spec = Fields(source, ()).below("spec")
    policy = {key: spec.value[key] for key in ("suspend", "managedBy") if key in spec}
    read_run_policy(Fields(policy, spec.path), draft, ledger, OPERATOR)
    set_time_to_live(spec, draft, ledger)
    keep_finished_pods(draft)
    ledger.converted(spec.at("replicatedJobs"), "spec.taskRoles")
    parts = read_parts(spec)
    add_claims(spec, parts, ledger, None)
    replace_labels(source["metadata"]["name"], parts, spec, ledger, None)
    parts = run_once_first(parts, spec.at("replicatedJobs"), draft, ledger)
    require_no_order(spec, parts, None)
    apply_success_policy(spec, parts, None)
    if "successPolicy" in spec:
        ledger.converted(spec.at("successPolicy"), "frameworkAttemptCompletionPolicy")
    if "coordinator" in spec:
        ledger.dropped(spec.at("coordinator"), "it only makes labels, and variables that read them have their value")
    if "startupPolicy" in spec:
        ledger.dropped(spec.at("startupPolicy"), "all roles start at once here as well")
    tell_network(spec, ledger, None)
    tell_failure_policy(spec, ledger, None)
    tell_rest(spec, ledger, None, told=frozenset({"volumeClaimPolicies"}))
    hosts = hosts_of(source["metadata"]["name"], draft, parts, spec.below("network").text("subdomain"))
    finish(parts, hosts, draft, ledger, None)
    return Made(draft, ledger, hosts)
