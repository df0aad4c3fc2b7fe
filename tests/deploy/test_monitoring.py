"""The alerts and the dashboard of deploy/monitoring: they ask for metrics that there are, and each alert fires when it should."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from fcontroller.act.dispatcher import Priority
from fcontroller.decide.conditions import PROBLEMS
from fcontroller.metrics import METRICS, _what
from tests.argocd.tools import tool
from tests.cluster import Cluster
from tests.cluster.kubelet import Kubelet
from tests.controller.test_process import running
from tests.controller.test_run import apply, until
from tests.decide.world import role_spec
from tests.docs.test_site import anchors

TARGET_LABELS = {"namespace", "pod", "container", "endpoint", "instance", "job"}
"""Those that Prometheus adds for a PodMonitor."""
OF_THE_PROCESS = {"process_start_time_seconds", "process_cpu_seconds_total", "process_resident_memory_bytes"}
RUNBOOKS = "runbooks#"


def rule_group(repository: Path) -> Any:
    (group,) = yaml.safe_load((repository / "deploy" / "monitoring" / "prometheus-rule.yaml").read_text("utf-8"))["spec"]["groups"]
    return group


def alerts(repository: Path) -> dict[str, Any]:
    return {rule["alert"]: rule for rule in rule_group(repository)["rules"]}


def dashboard(repository: Path) -> Any:
    return json.loads((repository / "deploy" / "monitoring" / "fcontroller.json").read_text("utf-8"))


def panels(repository: Path) -> list[Any]:
    return [panel for panel in dashboard(repository)["panels"] if panel["type"] != "row"]


def promtool(*arguments: str | Path, text: str | None = None) -> str:
    """Return what promtool prints, once it has found nothing wrong."""
    done = subprocess.run([tool("promtool"), *arguments], input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


# What is asked for


def series_of(metric: str) -> dict[str, set[str]]:
    """The names under which Prometheus has a metric, with their labels."""
    if metric in OF_THE_PROCESS:
        return {metric: set(TARGET_LABELS)}
    described = METRICS[metric]
    labels = {*described.labels, *TARGET_LABELS}
    if described.kind == "histogram":
        return {f"{metric}_bucket": {*labels, "le"}, f"{metric}_sum": labels, f"{metric}_count": labels}
    return {f"{metric}_total" if described.kind == "counter" else metric: labels}


SERIES = {name: labels for metric in (*METRICS, *OF_THE_PROCESS) for name, labels in series_of(metric).items()}


def check_expression(expression: str) -> None:
    """Check that all metrics in an expression are there, with the labels by which they are chosen and put together."""
    selected = re.findall(r"\b((?:fcontroller|process|python)_\w+)(?:\{([^}]*)\})?", expression)
    assert selected, f"no metric in {expression}"
    known = set.intersection(*(SERIES[name] for name, _ in selected))
    for name, matchers in selected:
        assert set(re.findall(r"(\w+)\s*[!=]", re.sub(r'"[^"]*"', '""', matchers))) <= SERIES[name], f"{name} in {expression}"
    for labels in re.findall(r"\b(?:by|on|ignoring|without)\s*\(([^)]*)\)", expression):
        assert set(re.findall(r"\w+", labels)) <= known, expression


def test_the_check_of_expressions_bites() -> None:
    check_expression('sum by (pod, le) (rate(fcontroller_sync_seconds_bucket{le="1.0", job="a=b"}[5m]))')
    for wrong in ("fcontroller_lost", 'fcontroller_leader{state="a"}', "sum by (reason) (fcontroller_leader)", "fcontroller_retries", "1"):
        with pytest.raises((AssertionError, KeyError)):
            check_expression(wrong)


def test_alerts_ask_for_what_there_is(repository: Path) -> None:
    for alert in alerts(repository).values():
        check_expression(alert["expr"])
        labels = set(re.findall(r"\$labels\.(\w+)", alert["annotations"]["description"]))
        by = re.findall(r"\bby \(([^)]*)\)", alert["expr"])
        assert labels <= set(re.findall(r"\w+", by[0] if by else "namespace, pod")), alert["alert"]


def test_panels_ask_for_what_there_is(repository: Path) -> None:
    for panel in panels(repository):
        for target in panel["targets"]:
            check_expression(target["expr"])
            legend = set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", "")))
            by = re.findall(r"\bby \(([^)]*)\)", target["expr"])
            assert legend <= set(re.findall(r"\w+", by[0] if by else "pod")), panel["title"]


def test_every_panel_has_the_data_source_that_is_chosen(repository: Path) -> None:
    board = dashboard(repository)
    assert {variable["name"]: variable["type"] for variable in board["templating"]["list"]} == {
        "datasource": "datasource",
        "namespace": "query",
    }
    chosen = {"type": "prometheus", "uid": "${datasource}"}
    asking = [each for panel in panels(repository) for each in (panel, *panel["targets"])]
    assert all(each["datasource"] == chosen for each in (*asking, board["templating"]["list"][1]))
    assert all(panel["title"] and panel["description"] for panel in panels(repository))
    places = [panel["gridPos"] for panel in board["panels"]]
    assert len({panel["id"] for panel in board["panels"]}) == len({(place["x"], place["y"]) for place in places}) == len(places)
    assert all(place["x"] + place["w"] <= 24 for place in places)


def test_every_metric_is_in_a_panel_or_an_alert(repository: Path) -> None:
    asked = [target["expr"] for panel in panels(repository) for target in panel["targets"]]
    text = " ".join((*asked, *(alert["expr"] for alert in alerts(repository).values())))
    unseen = {metric for metric in METRICS if not any(re.search(rf"\b{name}\b", text) for name in series_of(metric))}
    assert unseen == {"fcontroller_build_info", "fcontroller_transitions"}


VALUES = {
    "condition": {*PROBLEMS, "StatusStored"},
    "cause": {"edit", "other"},
    "priority": {priority.name.lower() for priority in Priority},
    "le": {"1.0"},
    "job": {"fcontroller"},
    "verb": {_what("POST", "/api/v1/namespaces/a/pods")[0]},
    "resource": {_what("POST", "/api/v1/namespaces/a/pods")[1]},
    "namespace": {"$namespace"},
}


def test_labels_have_the_values_that_are_asked_for(repository: Path) -> None:
    page = (repository / "docs" / "operations.md").read_text("utf-8").partition("## Events")[2].partition("## Conditions")[0]
    values = {**VALUES, "reason": set(re.findall(r"`([A-Z]\w+)`(?=[^|]*\|)", page))}
    asked = [target["expr"] for panel in panels(repository) for target in panel["targets"]]
    for expression in (*asked, *(alert["expr"] for alert in alerts(repository).values())):
        for label, _, wanted in re.findall(r'(\w+)(=~?)"([^"]*)"', expression):
            assert label == "code" or set(wanted.split("|")) <= values[label], expression


# Runbooks


def test_every_alert_has_its_runbook(repository: Path) -> None:
    page = repository / "docs" / "runbooks.md"
    links = {name: alert["annotations"]["runbook_url"] for name, alert in alerts(repository).items()}
    assert links == {name: RUNBOOKS + name.lower() for name in links}
    assert {link.removeprefix(RUNBOOKS) for link in links.values()} <= anchors(page)
    sections = dict(re.findall(r"^## (Fcontroller\w+)\n(.*?)(?=^## |\Z)", page.read_text("utf-8"), re.MULTILINE | re.DOTALL))
    assert list(sections) == list(links), "in the order of the rules"
    for name, section in sections.items():
        assert re.findall(r"^\*\*([^*]+)\.\*\*", section, re.MULTILINE) == [
            *("What it means", "What users feel", "What to look at", "What to do")
        ], name
        assert "```sh\n" in section, name


def test_runbooks_name_metrics_that_there_are(repository: Path) -> None:
    for name in re.findall(r"\bfcontroller_\w+", (repository / "docs" / "runbooks.md").read_text("utf-8")):
        assert name in SERIES or name in METRICS, name


def test_commands_show_the_whole_logs_of_all_replicas(repository: Path) -> None:
    """With a selector alone kubectl shows the last ten lines of each Pod, and with a Deployment one Pod, mostly not the leader."""
    pages = [page.read_text("utf-8") for page in (repository / "docs").glob("*.md")]
    logs = [log for page in pages for log in re.findall(r"kubectl -n fcontroller logs (?!POD)[^\n`]*", page)]
    assert logs
    assert [log for log in logs if "-l app.kubernetes.io/name=fcontroller --prefix --tail=-1" not in log] == []


@pytest.mark.parametrize(
    ("alert", "reasons"),
    [
        ("FcontrollerFrameworksFrozen", {"Refused", "NameTaken", "IntentRefused", "DeletionHeld", "ServiceNameTaken", "ServiceRefused"}),
        ("FcontrollerPodsRefused", {"Refused", "TasksFailed"}),
        ("FcontrollerNoPodsCreated", {"Refused", "TasksFailed"}),
    ],
)
def test_runbooks_show_each_event_that_goes_with_the_alert(repository: Path, alert: str, reasons: set[str]) -> None:
    """A quota for ConfigMaps and a taken name make the Events Refused and NameTaken, a policy against Pods TasksFailed: none was shown."""
    _, _, rest = (repository / "docs" / "runbooks.md").read_text("utf-8").partition(f"\n## {alert}\n")
    section = rest.partition("\n## ")[0]
    assert reasons <= set(re.findall(r"--field-selector reason=(\w+)", section))


def test_commands_of_runbooks_are_understood(repository: Path, own_cluster: Cluster) -> None:
    """Those that only read what the cluster has: nothing of fcontroller runs in this one."""
    own_cluster.kubectl("apply", "--server-side", "-k", str(repository / "deploy"))
    text = (repository / "docs" / "runbooks.md").read_text("utf-8")
    commands = {line.partition("  #")[0].strip() for line in re.findall(r"^kubectl .*", text, re.MULTILINE)}
    asked = 0
    for command in commands:
        _, *arguments = command.split()
        if {"get", "can-i"} & set(arguments) and not {"lease", "NAME", "NAMESPACE"} & set(arguments):
            if "--raw" in arguments and "POD" in command:
                continue
            end = time.monotonic() + 120  # The API server takes a moment to know a new kind, and new rights.
            while (done := own_cluster.kubectl(*[argument.strip("'") for argument in arguments], check=False)).returncode:
                assert time.monotonic() < end, f"{command}: {done.stderr}{done.stdout}"
                time.sleep(0.5)
            asked += 1
    assert asked >= 5


def test_the_one_setting_of_the_links(repository: Path, cluster: Cluster) -> None:
    folder = repository / "deploy" / "monitoring"
    built = {document["kind"]: document for document in yaml.safe_load_all(cluster.kubectl("kustomize", str(folder)).stdout)}
    assert {document["metadata"]["namespace"] for document in built.values()} == {"fcontroller"}
    rule, config_map = built["PrometheusRule"], built["ConfigMap"]
    base = rule["metadata"]["annotations"]["runbooks"]
    assert (folder / "kustomization.yaml").read_text("utf-8").count(base) == 1
    links = [alert["annotations"]["runbook_url"] for alert in rule["spec"]["groups"][0]["rules"]]
    assert links == [f"{base}#{name.lower()}" for name in alerts(repository)]
    assert config_map["metadata"]["labels"] == {"grafana_dashboard": "1"}
    assert json.loads(config_map["data"]["fcontroller.json"]) == dashboard(repository)
    deployment = yaml.safe_load((repository / "deploy" / "base" / "deployment.yaml").read_text("utf-8").split("\n---\n")[0])
    pod, monitor = deployment["spec"]["template"], built["PodMonitor"]["spec"]
    assert monitor["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    assert pod["metadata"]["labels"][monitor["jobLabel"]] == "fcontroller"
    (endpoint,) = monitor["podMetricsEndpoints"]
    assert endpoint["port"] in [port["name"] for port in pod["spec"]["containers"][0]["ports"]]


# What promtool says


def test_promtool_takes_the_rules_and_the_expressions_of_panels(repository: Path, tmp_path: Path) -> None:
    count = len(alerts(repository))
    assert f"SUCCESS: {count} rules found" in promtool("check", "rules", written(tmp_path, "rules", {"groups": [rule_group(repository)]}))
    asked = [target["expr"].replace("$__rate_interval", "5m") for panel in panels(repository) for target in panel["targets"]]
    records = [{"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(asked)]
    promtool("check", "rules", written(tmp_path, "panels", {"groups": [{"name": "panels", "rules": records}]}))


def written(folder: Path, name: str, value: Any) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(value))
    return path


class Trouble(NamedTuple):
    """What goes wrong after an hour in which all was well, and what is told then."""

    series: dict[str, str]
    """Values every 15 seconds, in promtool's words."""
    description: str
    labels: Mapping[str, str] = MappingProxyType({})
    """Besides those that every alert has."""
    after: str = "65m"
    """When it is told, from the beginning."""


TARGET = {"namespace": "fcontroller", "job": "fcontroller"}
WELL = {
    'fcontroller_leader{pod="a"}': "1x480",
    'fcontroller_leader{pod="b"}': "0x480",
    'fcontroller_lease_seconds_left{pod="a"}': "8x480",
    'process_start_time_seconds{pod="a"}': "1800000000x480",
    'process_start_time_seconds{pod="b"}': "1800000000x480",
    'fcontroller_warnings_total{pod="a", reason="ControllerFailed"}': "7x480",
    'fcontroller_warnings_total{pod="a", reason="IntentForged"}': "7x480",
    'fcontroller_warnings_total{pod="a", reason="GarbageLeft"}': "7x480",
    'fcontroller_warnings_total{pod="a", reason="TasksFailed"}': "0+3x480",
    'fcontroller_event_loop_lag_seconds_count{pod="a"}': "0+60x480",
    'fcontroller_event_loop_lag_seconds_bucket{pod="a", le="1.0"}': "0+60x480",
    'fcontroller_oldest_unsaved_status_seconds{pod="a"}': "1x480",
    **{
        f'fcontroller_frozen_frameworks{{pod="a", condition="{condition}"}}': "0x480"
        for condition in ("IntentStored", "PodsCreated", "ObjectsDeleted", "ServicesMade", "StatusStored")
    },
    'fcontroller_frozen_frameworks{pod="a", condition="ScaleAccepted"}': "1x480",
    **{
        f'fcontroller_longest_frozen_seconds{{pod="a", condition="{condition}"}}': "0x480"
        for condition in ("IntentStored", "PodsCreated", "ObjectsDeleted", "ServicesMade", "StatusStored")
    },
    'fcontroller_pods_not_as_reviewed{pod="a", cause="other"}': "0x480",
    'fcontroller_pods_not_as_reviewed{pod="a", cause="edit"}': "7x480",
    'fcontroller_watch_age_seconds{pod="a", resource="pods"}': "57x480",
    'fcontroller_watch_age_seconds{pod="a", resource="frameworks"}': "57x480",
    'fcontroller_api_requests_total{pod="a", verb="create", resource="pods", code="201"}': "0+100x480",
    'fcontroller_api_requests_total{pod="a", verb="create", resource="pods", code="403"}': "0+100x480",
    'fcontroller_api_requests_total{pod="a", verb="create", resource="pods", code="429"}': "0+10x480",
    'fcontroller_oldest_waiting_request_seconds{pod="a", priority="urgent"}': "2x480",
    'fcontroller_oldest_waiting_request_seconds{pod="a", priority="deletion"}': "2x480",
    'fcontroller_oldest_waiting_request_seconds{pod="a", priority="creation"}': "600x480",
}


def then(before: str, after: str) -> str:
    """One value for an hour, and another from then on."""
    return f"{before}x240 {after}x240"


TROUBLES = {
    "FcontrollerNoLeader": Trouble(
        {'fcontroller_leader{pod="a"}': then("1", "0"), 'fcontroller_lease_seconds_left{pod="a"}': "8x240 _x240"},
        "No replica of fcontroller in namespace fcontroller has held the Lease for 2 minutes.",
    ),
    "FcontrollerSeveralLeaders": Trouble(
        {'fcontroller_leader{pod="b"}': then("0", "1")},
        "2 replicas in namespace fcontroller say that they lead. They may create Pods twice.",
    ),
    "FcontrollerLeaderChanges": Trouble(
        {
            'fcontroller_leader{pod="a"}': "1x240 0x8 1x8 0x8 1x240",
            'fcontroller_leader{pod="b"}': "0x240 1x8 0x8 1x8 0x240",
        },
        "Replicas in namespace fcontroller began or stopped to lead 8 times in 30 minutes.",
        after="70m",
    ),
    "FcontrollerLeaseNearlyLost": Trouble(
        {'fcontroller_lease_seconds_left{pod="a"}': "8x240 2 8x240"},
        "The leader in namespace fcontroller had only 2 s left to renew its Lease.",
        after="62m",
    ),
    "FcontrollerRestarts": Trouble(
        {'process_start_time_seconds{pod="b"}': "1800000000x240 1800003600x8 1800003800x8 1800004000x240"},
        "fcontroller/b restarted 3 times in an hour.",
        {"pod": "b"},
        after="70m",
    ),
    "FcontrollerFailed": Trouble(
        {'fcontroller_warnings_total{pod="a", reason="ControllerFailed"}': then("7", "8")},
        "The controller in namespace fcontroller failed while it worked on a Framework, and leaves that one alone for now.",
    ),
    "FcontrollerLoopLags": Trouble(
        {'fcontroller_event_loop_lag_seconds_bucket{pod="a", le="1.0"}': "0+60x240 14459+59x240"},
        "The event loop of fcontroller/a was late by over 1 s, 24 times in 10 minutes.",
        {"pod": "a"},
        after="66m",
    ),
    "FcontrollerStatusNotSaved": Trouble(
        {'fcontroller_oldest_unsaved_status_seconds{pod="a"}': "1x240 15+15x240"},
        "A Framework's status has waited for 5m 0s to be stored. That Framework does nothing until it is.",
    ),
    "FcontrollerFrameworksFrozen": Trouble(
        {
            'fcontroller_frozen_frameworks{pod="a", condition="IntentStored"}': then("0", "3"),
            'fcontroller_longest_frozen_seconds{pod="a", condition="IntentStored"}': "0x240 30+15x240",
        },
        "3 Frameworks have the condition IntentStored False.",
        {"condition": "IntentStored"},
        after="66m",
    ),
    "FcontrollerGarbageLeft": Trouble(
        {'fcontroller_warnings_total{pod="a", reason="GarbageLeft"}': then("7", "8")},
        "Kubernetes' garbage collector has not deleted the ConfigMap and Pods of a Framework that was deleted.",
    ),
    "FcontrollerPodsRefused": Trouble(
        {
            'fcontroller_frozen_frameworks{pod="a", condition="PodsCreated"}': then("0", "2"),
            'fcontroller_longest_frozen_seconds{pod="a", condition="PodsCreated"}': "0x240 30+15x240",
        },
        "2 Frameworks wait for Pods that the API server refuses, as for a quota or by a webhook.",
        after="92m",
    ),
    "FcontrollerNoPodsCreated": Trouble(
        {
            'fcontroller_frozen_frameworks{pod="a", condition="PodsCreated"}': then("0", "2"),
            'fcontroller_api_requests_total{pod="a", verb="create", resource="pods", code="201"}': "0+100x240 24000x240",
        },
        "2 Frameworks wait for Pods that the API server refuses, and for 20 minutes it took no Pod of any Framework.",
        after="82m",
    ),
    "FcontrollerIntentForged": Trouble(
        {'fcontroller_warnings_total{pod="a", reason="IntentForged"}': then("7", "8")},
        "Somebody else wrote into the ConfigMap of an attempt. The controller in namespace fcontroller runs nothing of it.",
    ),
    "FcontrollerPodsNotAsReviewed": Trouble(
        {'fcontroller_pods_not_as_reviewed{pod="a", cause="other"}': then("0", "4")},
        "4 Pods differ from what was reviewed.",
        after="71m",
    ),
    "FcontrollerWatchStale": Trouble(
        {'fcontroller_watch_age_seconds{pod="a", resource="pods"}': "57x240 15+15x240"},
        "The watch of pods has brought nothing for 5m 0s.",
        {"resource": "pods"},
    ),
    "FcontrollerRequestsRefused": Trouble(
        {'fcontroller_api_requests_total{pod="a", verb="create", resource="pods", code="429"}': "0+10x240 2500+50x240"},
        "20% of the requests get no answer, 429 or an error of the server.",
        after="80m",
    ),
    "FcontrollerDeletesWait": Trouble(
        {'fcontroller_oldest_waiting_request_seconds{pod="a", priority="urgent"}': "2x240 15+15x240"},
        "A deletion, a status or a read has waited for 5m 0s to be sent.",
    ),
}
FIRST_EVER = {
    "FcontrollerFailed": 'fcontroller_warnings_total{pod="a", reason="ControllerFailed"}',
    "FcontrollerIntentForged": 'fcontroller_warnings_total{pod="a", reason="IntentForged"}',
    "FcontrollerGarbageLeft": 'fcontroller_warnings_total{pod="a", reason="GarbageLeft"}',
}
"""Alerts that one count is enough for, also where there was no such series before."""


def played(series: dict[str, str], *told: Any) -> dict[str, Any]:
    """A test of promtool's, of targets of the PodMonitor."""
    where = "".join(f', {key}="{value}"' for key, value in TARGET.items())
    values = [{"series": name.replace("}", where + "}"), "values": values} for name, values in series.items() if values]
    return {"interval": "15s", "input_series": values, "alert_rule_test": list(told)}


def fires(rule: Any, trouble: Trouble) -> dict[str, Any]:
    """What is expected of the alert that a trouble is about."""
    annotations = {**rule["annotations"], "description": trouble.description}
    labels = {**rule["labels"], **TARGET, **trouble.labels}
    return {"eval_time": trouble.after, "alertname": rule["alert"], "exp_alerts": [{"exp_labels": labels, "exp_annotations": annotations}]}


def silent(rules: dict[str, Any], when: str, *but: str) -> list[dict[str, Any]]:
    return [{"eval_time": when, "alertname": name, "exp_alerts": []} for name in rules if name not in but]


def play(repository: Path, folder: Path, *tests: dict[str, Any]) -> None:
    rules = written(folder, "rules", {"groups": [rule_group(repository)]})
    promtool("test", "rules", written(folder, "tests", {"rule_files": [str(rules)], "evaluation_interval": "15s", "tests": tests}))


def test_every_alert_has_its_trouble(repository: Path) -> None:
    assert list(TROUBLES) == list(alerts(repository))


@pytest.mark.parametrize("name", TROUBLES)
def test_an_alert_fires(repository: Path, tmp_path: Path, name: str) -> None:
    """And no other one with it; before, while all was well, none did."""
    rules, trouble = alerts(repository), TROUBLES[name]
    expected = [*silent(rules, "60m"), fires(rules[name], trouble), *silent(rules, trouble.after, name)]
    play(repository, tmp_path, played({**WELL, **trouble.series}, *expected))


@pytest.mark.parametrize(("name", "series"), FIRST_EVER.items())
def test_the_first_one_counts(repository: Path, tmp_path: Path, name: str, series: str) -> None:
    rules, new = alerts(repository), {**WELL, series: "_x241 1x240"}
    expected = [*silent(rules, "60m"), fires(rules[name], TROUBLES[name]), *silent(rules, "65m", name), *silent(rules, "80m")]
    play(repository, tmp_path, played(new, *expected))


@pytest.mark.parametrize("priority", ["deletion", "intent", "end"])
def test_other_kinds_that_wait_are_told_of_too(repository: Path, tmp_path: Path, priority: str) -> None:
    """They are no `urgent` requests: with sixteen that hung in a webhook, a Stop waited for minutes, and nobody was told."""
    series = {f'fcontroller_oldest_waiting_request_seconds{{pod="a", priority="{priority}"}}': "2x240 15+15x240"}
    rules, trouble = alerts(repository), TROUBLES["FcontrollerDeletesWait"]
    expected = [*silent(rules, "60m"), fires(rules["FcontrollerDeletesWait"], trouble), *silent(rules, "65m", "FcontrollerDeletesWait")]
    play(repository, tmp_path, played({**WELL, **series}, *expected))


@pytest.mark.parametrize(("condition", "seconds"), [("ObjectsDeleted", 240), ("PodsCreated", 1700)])
def test_frameworks_that_wait_one_after_the_other_are_not_told_of(repository: Path, tmp_path: Path, condition: str, seconds: int) -> None:
    """In a large cluster some wait at any time, and it was said of them that they wait for what does not come by itself."""
    series = {
        f'fcontroller_frozen_frameworks{{pod="a", condition="{condition}"}}': then("0", "3"),
        f'fcontroller_longest_frozen_seconds{{pod="a", condition="{condition}"}}': then("0", str(seconds)),
    }
    told = silent(alerts(repository), "115m")
    play(repository, tmp_path, played({**WELL, **series}, *told))


def test_a_controller_that_has_never_created_a_pod_is_told_of_too(repository: Path, tmp_path: Path) -> None:
    """Then there is no series of such requests."""
    rules = alerts(repository)
    new = {name: values for name, values in WELL.items() if 'code="201"' not in name}
    new['fcontroller_frozen_frameworks{pod="a", condition="PodsCreated"}'] = then("0", "2")
    expected = [*silent(rules, "65m"), fires(rules["FcontrollerNoPodsCreated"], TROUBLES["FcontrollerNoPodsCreated"]._replace(after="75m"))]
    play(repository, tmp_path, played(new, *expected))


def test_one_that_is_not_there_does_not_lead(repository: Path, tmp_path: Path) -> None:
    rule = alerts(repository)["FcontrollerNoLeader"]
    annotations = {**rule["annotations"], "description": "No replica of fcontroller has held the Lease for 2 minutes."}
    expected = {"exp_labels": rule["labels"], "exp_annotations": annotations}
    play(repository, tmp_path, played({}, {"eval_time": "5m", "alertname": rule["alert"], "exp_alerts": [expected]}))


def test_one_of_several_installations_that_is_not_there_any_more_does_not_lead(repository: Path, tmp_path: Path) -> None:
    """As with deploy/namespaced: what others say of theirs hid it."""
    rule = alerts(repository)["FcontrollerNoLeader"]
    series = {'fcontroller_leader{pod="a"}': "1x240 stale", 'fcontroller_leader{pod="b"}': "0x240 stale"}
    told = fires(rule, TROUBLES["FcontrollerNoLeader"])
    test = played(series, told, *({"eval_time": when, "alertname": rule["alert"], "exp_alerts": []} for when in ("60m", "125m")))
    test["input_series"].append({"series": 'fcontroller_leader{pod="a", namespace="team-a", job="fcontroller"}', "values": "1x600"})
    play(repository, tmp_path, test)


def test_nothing_fires_while_all_is_well_nor_during_a_rollout(repository: Path, tmp_path: Path) -> None:
    rules = alerts(repository)
    old = {name: values.removesuffix("480") + "240 stale" for name, values in WELL.items()}
    new = {
        name.replace('pod="a"', 'pod="c"').replace('pod="b"', 'pod="d"'): f"_x242 {re.sub('^7', '0', values)}"
        for name, values in WELL.items()
    }
    for series in (WELL, {**old, **new}):
        play(repository, tmp_path, played(series, *(each for when in ("20m", "60m", "61m", "65m", "75m") for each in silent(rules, when))))


# What a controller says


def test_a_real_controller_at_work(repository: Path, tmp_path: Path, cluster: Cluster, namespace: str) -> None:
    """Its metrics are well-formed, alerts and panels find theirs among them, and no alert fires."""
    options = ["--kubeconfig", str(cluster.kubeconfig), "--namespace", namespace, "--lease-namespace", namespace]
    with Kubelet(cluster.api, namespace), running(*options) as controller:
        controller.says("leads")
        controller.until("/readyz", 200)
        apply(cluster, namespace, "one", role_spec("a", 2))
        until(cluster, namespace, "one", "AttemptRunning")
        status, text = controller.get("/metrics")
    assert status == 200
    promtool("check", "metrics", text=text)
    found: dict[str, str] = {}
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            labels = ", ".join(f'{key}="{value}"' for key, value in {**one.labels, "pod": "a"}.items())
            found[f"{one.name}{{{labels}}}"] = f"{one.value!r}x240"
            if one.name in SERIES:
                assert set(one.labels) <= SERIES[one.name], one.name
    names = {series.partition("{")[0] for series in found}
    assert SERIES.keys() - names <= {
        "fcontroller_retries_total",
        "fcontroller_attempts_ended_total",
        "fcontroller_watch_ends_total",
        "fcontroller_warnings_total",
        "fcontroller_hanging_requests",
    }
    rules = alerts(repository)
    play(repository, tmp_path, played(found, *(each for when in ("20m", "60m") for each in silent(rules, when))))
