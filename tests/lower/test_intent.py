"""What a Framework lowers to, also where it says little."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.default import default
from fcompile.emit.json import canonical
from fcompile.lower.digest import V1, document_digest
from fcompile.lower.intent import at_once, lower, lower_role
from fcontroller import intent as intents
from tests.check.frameworks import framework, role


def lowered(template: dict[str, Any]) -> dict[str, Any]:
    """The Pod that a template lowers to."""
    value = framework(role())
    value["spec"]["taskRoles"][0]["task"]["pod"] = template
    (made,) = lower(default(value).framework).roles
    return made.pod


def test_metadata_of_the_template_is_kept_unless_only_a_server_sets_it() -> None:
    metadata = {"finalizers": ["example.com/f"], "creationTimestamp": "2026-01-01T00:00:00Z", "uid": "u", "labels": {"a": "b"}, "name": "n"}
    made = lowered({"metadata": metadata, "spec": {"containers": []}})["metadata"]
    assert (made["finalizers"], made["labels"]["a"], made["name"]) == (["example.com/f"], "b", "train-worker-{{FC_TASK_INDEX}}")
    assert "creationTimestamp" not in made
    assert "uid" not in made


def test_numbers_and_truths_in_lists_stay_beside_placeholders() -> None:
    context = {"supplementalGroups": [1000, 2000], "sysctls": [{"name": "a", "value": "{{FC_TASKROLE_NAME}}"}, True, None, 0.5]}
    made = lowered({"spec": {"containers": [], "securityContext": context}})["spec"]["securityContext"]
    assert made == {"supplementalGroups": [1000, 2000], "sysctls": [{"name": "a", "value": "worker"}, True, None, 0.5]}


@pytest.mark.parametrize("template", [{}, {"metadata": None, "spec": None}, {"spec": {"containers": None, "initContainers": []}}])
def test_a_template_without_containers(template: dict[str, Any]) -> None:
    """The controller lowers what is stored, whoever has checked it; the API server refuses the Pod."""
    made = lowered(template)
    assert made["metadata"]["namespace"] == "{{FC_FRAMEWORK_NAMESPACE}}"
    assert not made["spec"].get("containers")


@pytest.mark.parametrize("roles", [None, []])
def test_a_framework_without_roles(roles: Any) -> None:
    value = default(framework()).framework
    intent = lower({**value, "spec": {**value["spec"], "taskRoles": roles}})
    assert (intent.roles, intent.framework, intent.execution_type) == ((), "train", "Start")


def test_rules_that_nobody_knows() -> None:
    with pytest.raises(ValueError, match="lowering rules v0 are not known"):
        lower(default(framework(role())).framework, "v0")


@pytest.mark.parametrize(
    ("own", "policy"),
    [({}, "FallbackToLogsOnError"), ({"terminationMessagePolicy": "File"}, "File"), ({"env": None}, "FallbackToLogsOnError")],
)
@pytest.mark.parametrize("kind", ["containers", "initContainers"])
def test_a_termination_message_policy_of_ones_own_stays(kind: str, own: dict[str, Any], policy: str) -> None:
    made = lowered({"spec": {kind: [{"name": "c", "image": "b", **own}]}})
    assert made["spec"][kind][0]["terminationMessagePolicy"] == policy


@pytest.mark.parametrize(("own", "published"), [({}, True), ({"publishNotReadyAddresses": False}, False)])
def test_the_addresses_of_pods_that_are_not_ready_are_published_unless_one_says_no(own: dict[str, bool], published: bool) -> None:
    (made,) = lower(default(framework(role(service=own))).framework).roles
    assert made.service is not None
    assert made.service["spec"]["publishNotReadyAddresses"] is published


LIFETIME = {"activeDeadlineSeconds": 3600, "cleanPodPolicy": "None", "ttlSecondsAfterFinished": 0}


def test_the_lifetime_is_in_the_intent_and_not_in_the_digest() -> None:
    """As counts and policies are: each change of it is stored, and none needs a review."""
    value = default(framework(role())).framework
    without, made = lower(value), lower({**value, "spec": {**value["spec"], **LIFETIME}})
    assert made.document() == {**without.document(), **LIFETIME}
    assert made.digest == without.digest
    assert len({at_once(document_digest(each.document(), V1)) for each in (made, without)}) == 2
    assert intents.read_document(canonical(made.document())) == made


@pytest.mark.parametrize("field", LIFETIME)
def test_a_null_is_no_lifetime(field: str) -> None:
    """Nothing is filled in: the documents of Frameworks that were there before these fields stay as they are."""
    value = framework(role())
    stored = default({**value, "spec": {**value["spec"], field: None}}).framework
    assert field not in stored["spec"]
    assert canonical(lower(stored).document()) == canonical(lower(default(value).framework).document())
    assert field not in lower(stored).document()


def test_a_role_is_lowered_in_steps() -> None:
    """A megabyte of one template was lowered in one turn of the controller, a fifth of a second in which it did nothing else."""
    value = default(framework(role())).framework
    assert len(list(lower_role("train", value["spec"]["taskRoles"][0], V1))) == 4
