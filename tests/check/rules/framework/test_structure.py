"""What the structure check finds, where, and what it says to do."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcompile.check.rules.framework.structure import structure, walk
from fcompile.diagnostics.problem import Finding, Part, Path, field_path
from tests.check.frameworks import framework, role

ROLE = "spec.taskRoles[0]"
POD = f"{ROLE}.task.pod"
MAIN = f"{POD}.spec.containers[0]"


def check(value: Any, version: int = 36, sources: dict[Path, str] | None = None) -> list[Finding]:
    """All findings; `sources` is the text of unquoted scalars by path."""
    known = sources or {}

    def plain(path: Path, part: Part) -> str | None:
        return known.get(path)

    return list(structure(value, version=version, plain=plain))


def found(value: Any, version: int = 36) -> list[tuple[str, str]]:
    return [(finding.rule.code, field_path(finding.path)) for finding in check(value, version)]


def with_main(**fields: Any) -> dict[str, Any]:
    """A Framework whose only container has these fields too."""
    return framework(role(spec={"containers": [{"name": "main", "image": "busybox", **fields}]}))


def with_spec(**fields: Any) -> dict[str, Any]:
    """A Framework whose Pod spec has these fields too."""
    return framework(role(spec=fields))


def only(value: Any, version: int = 36, sources: dict[Path, str] | None = None) -> Finding:
    """The one finding."""
    [finding] = check(value, version, sources)
    return finding


def test_a_right_framework_has_no_finding() -> None:
    assert found(framework(role(), role("ps", service={"ports": [{"port": 80}]}, retry=-2), executionType="Create")) == []


def test_what_a_server_returns_is_fine() -> None:
    value = framework(role())
    value["metadata"] |= {
        "uid": "u",
        "resourceVersion": "1",
        "generation": 2,
        "creationTimestamp": "2024-01-01T00:00:00Z",
        "managedFields": [
            {
                "manager": "kubectl",
                "operation": "Update",
                "apiVersion": "frameworkcontroller.microsoft.com/v1",
                "time": "2024-01-01T00:00:00Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {".": {}}},
            }
        ],
    }
    value["status"] = {"state": "AttemptRunning"}
    assert found(value) == []


@pytest.mark.parametrize(
    ("field", "wrong", "code"),
    [
        ("creationTimestamp", "yesterday", "FC151"),
        ("creationTimestamp", "", "FC151"),
        ("deletionTimestamp", 1, "FC112"),
        ("generation", 1.5, "FC111"),
        ("deletionGracePeriodSeconds", 2**63, "FC131"),
        ("uid", 7, "FC112"),
        ("resourceVersion", 7, "FC112"),
    ],
)
def test_what_a_server_sets_and_cannot_read(field: str, wrong: object, code: str) -> None:
    value = framework(role())
    value["metadata"][field] = wrong
    assert found(value) == [(code, f"metadata.{field}")]


def test_times_in_managed_fields() -> None:
    value = framework(role())
    value["metadata"]["managedFields"] = [{"time": "now"}]
    assert found(value) == [("FC151", "metadata.managedFields[0].time")]


@pytest.mark.parametrize(("port", "expected"), [("", []), (None, []), ("http", []), (1.0, []), (0, ["FC131"]), ("a--b", ["FC151"])])
def test_target_ports(port: object, expected: list[str]) -> None:
    value = framework(role(service={"ports": [{"port": 80, "targetPort": port}]}))
    assert [code for code, _ in found(value)] == expected


# Unknown fields


@pytest.mark.parametrize(
    ("field", "right", "fixed"),
    [
        ("imagePullPolcy", "imagePullPolicy", True),
        ("ImagePullPolicy", "imagePullPolicy", True),
        ("image_pull_policy", "imagePullPolicy", True),
        ("imagePulPoliccy", "imagePullPolicy", False),
    ],
)
def test_a_misspelt_field(field: str, right: str, fixed: bool) -> None:
    finding = only(with_main(**{field: "Always"}))
    assert (finding.rule.code, field_path(finding.path), finding.part) == ("FC101", f"{MAIN}.{field}", "key")
    assert f"did you mean `{right}`?" in finding.message
    assert (finding.fix.text if finding.fix else None) == (right if fixed else None)


def test_no_fix_when_the_right_field_is_there_or_would_be_of_another_type() -> None:
    assert only(with_main(Args=["a"], args=["b"])).fix is None
    assert only(with_main(Args="a")).fix is None


def test_the_field_of_upstreams_own_example() -> None:
    finding = only(with_spec(ActiveDeadlineSeconds=60))
    assert finding.fix is not None
    assert finding.fix.text == "activeDeadlineSeconds"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (with_main(restartPolicyy="x", nodeSelector={"a": "b"}), "it is a field of `spec`, one level up"),
        (with_spec(capabilities={"add": ["SYS_PTRACE"]}), "it is a field of `spec.taskRoles[].task.pod.spec.containers[].securityContext`"),
        (with_main(privileged=True), "it belongs in `securityContext`, one level down"),
        (framework({**role(), "completionPolicy": {}}), "did you mean `frameworkAttemptCompletionPolicy`?"),
        (with_main(taskNumber=3), "it is a field of `taskRoles`, 4 levels up"),
    ],
)
def test_a_field_in_the_wrong_place(value: Any, says: str) -> None:
    assert says in "\n".join(finding.message for finding in check(value))


def test_a_null_unknown_field_is_unknown_too() -> None:
    assert found(with_main(foo=None)) == [("FC101", f"{MAIN}.foo")]


def test_a_key_that_is_read_as_something_else() -> None:
    path: Path = ("spec", "taskRoles", 0, "true")
    value = framework({**role(), "true": 1})
    assert "no field `on`, which is read as `true`" in only(value, sources={path: "on"}).message


@pytest.mark.parametrize(
    ("version", "value", "says"),
    [
        (33, with_spec(hostnameOverride="a"), "`hostnameOverride` came with Kubernetes 1.34, and this is checked for 1.33"),
        (36, with_spec(workloadRef={"name": "a", "podGroup": "b"}), "`workloadRef` was last in Kubernetes 1.35"),
        (25, with_main(resizePolicy=[]), "came with Kubernetes 1.27"),
    ],
)
def test_a_field_of_another_version(version: int, value: Any, says: str) -> None:
    finding = only(value, version)
    assert finding.rule.code == "FC102"
    assert says in finding.message


def test_forbidden_fields() -> None:
    value = framework(role())
    value["metadata"]["generateName"] = "train-"
    assert found(value) == [("FC103", "metadata.generateName")]
    del value["metadata"]["name"]
    assert found(value) == [("FC103", "metadata.generateName")]
    assert found(with_spec(ephemeralContainers=[{"name": "a"}])) == [("FC103", f"{POD}.spec.ephemeralContainers")]
    assert found(with_spec(ephemeralContainers=[])) == []


@pytest.mark.parametrize(
    ("field", "empty", "codes"),
    [
        ("creationTimestamp", None, []),
        ("creationTimestamp", "", ["FC151"]),
        ("creationTimestamp", False, ["FC112"]),
        ("generation", 0, []),
        ("generation", -0.0, []),
        ("generation", "", ["FC111"]),
        ("finalizers", [], []),
        ("ownerReferences", {}, ["FC111"]),
        ("name", "", []),
        ("name", 0, ["FC112"]),
    ],
)
def test_a_forbidden_field_that_is_empty_must_still_be_readable(field: str, empty: object, codes: list[str]) -> None:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    volume = {"name": "v", "ephemeral": {"volumeClaimTemplate": {"metadata": {field: empty}, "spec": claim}}}
    assert [code for code, _ in found(with_spec(volumes=[volume]))] == codes


# Types


@pytest.mark.parametrize(
    ("value", "path", "says"),
    [
        (with_main(command="sleep 1"), f"{MAIN}.command", 'must be a list, not the string `sleep 1`: write `["sleep", "1"]`'),
        (with_main(env={"A": "b"}), f"{MAIN}.env", "must be a list, not a mapping: write an item for each, `- name: …`"),
        (
            with_spec(tolerations={"key": "gpu", "operator": "Exists"}),
            f"{POD}.spec.tolerations",
            "must be a list, not a mapping: write an item for each, `- key: …`",
        ),
        (with_main(resources=["cpu"]), f"{MAIN}.resources", "must be a mapping, not a list"),
        (with_main(tty="yes"), f"{MAIN}.tty", "must be true or false, not the string `yes`"),
        (with_main(ports=[{"containerPort": 1.5}]), f"{MAIN}.ports[0].containerPort", "must be a whole number, not the number 1.5"),
        (with_main(ports=[{"containerPort": True}]), f"{MAIN}.ports[0].containerPort", "must be a whole number, not the boolean true"),
        (
            with_spec(terminationGracePeriodSeconds="2h"),
            f"{POD}.spec.terminationGracePeriodSeconds",
            "must be a whole number, not the string `2h`: write 7200, in seconds",
        ),
        (with_main(args=[["a"]]), f"{MAIN}.args[0]", "`args[0]` must be a string, not a list"),
        (with_spec(nodeSelector=[{"a": "b"}]), f"{POD}.spec.nodeSelector", "write `key: value` without `- `"),
        (framework("worker"), ROLE, "`taskRoles[0]` must be a mapping, not the string `worker`"),
        (
            {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": "a"}, "spec": []},
            "spec",
            "must be a mapping",
        ),
    ],
)
def test_a_wrong_type(value: Any, path: str, says: str) -> None:
    finding = only(value)
    assert (finding.rule.code, field_path(finding.path)) == ("FC111", path)
    assert says in finding.message


@pytest.mark.parametrize("number", [8080, 8080.0])
def test_whole_numbers(number: float) -> None:
    assert found(with_main(ports=[{"containerPort": number}])) == []


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [
        (with_main(ports=[{"containerPort": "8080"}]), "containerPort", "8080"),
        (with_main(tty="True"), "tty", "true"),
        (with_main(livenessProbe={"httpGet": {"port": "8080"}}), "port", "8080"),
    ],
)
def test_a_quoted_number_or_boolean_is_unquoted(value: Any, step: str, text: str) -> None:
    finding = only(value)
    assert finding.rule.code == "FC111"
    assert finding.fix is not None
    assert (finding.fix.path[-1], finding.fix.text) == (step, text)


@pytest.mark.parametrize("text", ["08080", "99999", "8080x", ""])
def test_text_that_is_no_such_number_is_not(text: str) -> None:
    assert only(with_main(ports=[{"containerPort": text}])).fix is None


@pytest.mark.parametrize(("source", "value"), [("no", False), ("012", 10), ("1.10", 1.1), ("12", 12), ("0x1F", 31)])
def test_an_unquoted_string(source: str, value: Any) -> None:
    path: Path = ("spec", "taskRoles", 0, "task", "pod", "spec", "containers", 0, "env", 0, "value")
    finding = only(with_main(env=[{"name": "A", "value": value}]), sources={path: source})
    assert finding.rule.code == "FC112"
    assert finding.path == path
    assert f'write "{source}"' in finding.message
    assert finding.fix is not None
    assert finding.fix.text == f'"{source}"'


def test_an_unquoted_string_of_unknown_source() -> None:
    finding = only(with_main(env=[{"name": "A", "value": 1}]))
    assert (finding.rule.code, finding.fix) == ("FC112", None)


def test_an_unquoted_key() -> None:
    labels: Path = ("spec", "taskRoles", 0, "task", "pod", "metadata", "labels")
    value = framework(role(metadata={"labels": {"true": "a", "10": "b", "20": "c"}}))
    findings = check(value, sources={(*labels, "true"): "yes", (*labels, "10"): "012", (*labels, "20"): "20"})
    assert [(finding.rule.code, finding.path[-1], finding.part, finding.fix and finding.fix.text) for finding in findings] == [
        ("FC113", "true", "key", '"yes"'),
        ("FC113", "10", "key", '"012"'),
    ]


# Null, empty and missing


def test_null_is_the_same_as_left_out() -> None:
    assert found(with_main(args=None, resources=None, tty=None)) == []
    assert found(framework({**role(), "task": {**role()["task"], "podGracefulDeletionTimeoutSec": None}})) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (with_main(args=["a", None]), [("FC115", f"{MAIN}.args[1]")]),
        (framework(role(metadata={"labels": {"app": None}})), [("FC115", f"{POD}.metadata.labels.app")]),
        (with_spec(containers=[{"name": "main", "image": "a"}, None]), [("FC114", f"{POD}.spec.containers[1]")]),
        (with_spec(imagePullSecrets=[None]), [("FC115", f"{POD}.spec.imagePullSecrets[0]")]),
        (with_spec(dnsConfig={"searches": [None]}), [("FC114", f"{POD}.spec.dnsConfig.searches[0]")]),
        (framework(role(), None), [("FC114", "spec.taskRoles[1]")]),
    ],
)
def test_null_where_it_matters(value: Any, expected: list[tuple[str, str]]) -> None:
    assert found(value) == expected


def test_a_null_in_a_map_is_what_the_api_server_reads() -> None:
    label = only(framework(role(metadata={"labels": {"app": None}})))
    assert label.message == '`app` has no value, which is read as an empty one: write what is meant, an empty string as `""`'
    limit = only(with_main(resources={"limits": {"cpu": None}}))
    assert (limit.rule.code, limit.message) == ("FC115", "`cpu` has no value, which is read as 0: write the amount, or remove it")


def test_everything_that_an_object_lacks_is_one_finding() -> None:
    finding = only(with_spec(containers=[{"tty": True}]))
    assert (finding.rule.code, field_path(finding.path)) == ("FC121", MAIN)
    assert finding.message == "`containers[0]` lacks `image` and `name`: add them"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (with_main(image=None), f"{MAIN}.image"),
        (framework({**role(), "name": None}), f"{ROLE}.name"),
        (framework({**role(), "task": {"pod": None}}), f"{ROLE}.task.pod"),
        ({**framework(role()), "spec": None}, "spec"),
    ],
)
def test_a_field_that_is_needed_and_has_no_value_is_shown_where_it_is(value: Any, path: str) -> None:
    finding = only(value)
    assert (finding.rule.code, field_path(finding.path), finding.part) == ("FC121", path, "key")
    assert finding.message == f"`{path.rpartition('.')[2]}` is empty: give it a value"


def test_what_is_left_out_and_what_is_empty_are_two_findings() -> None:
    assert found(with_spec(containers=[{"image": None}])) == [("FC121", f"{MAIN}.image"), ("FC121", MAIN)]


def test_a_field_that_is_there_but_misspelt_is_not_missing() -> None:
    assert found(with_spec(containers=[{"name": "main", "imgae": "busybox"}])) == [("FC101", f"{MAIN}.imgae")]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (framework({"name": "worker"}), ROLE),
        (framework({"name": "worker", "task": {}}), f"{ROLE}.task"),
        (framework({"name": "worker", "task": {"pod": {"spec": {}}}}), f"{POD}.spec"),
        (
            {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {}, "spec": framework(role())["spec"]},
            "metadata",
        ),
    ],
)
def test_a_missing_field(value: Any, path: str) -> None:
    assert found(value) == [("FC121", path)]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (with_main(image=""), f"{MAIN}.image"),
        (with_spec(containers=[]), f"{POD}.spec.containers"),
        (with_main(livenessProbe={"exec": {"command": []}}), f"{MAIN}.livenessProbe.exec.command"),
    ],
)
def test_an_empty_value_where_one_is_needed(value: Any, path: str) -> None:
    assert found(value) == [("FC122", path)]


@pytest.mark.parametrize(
    "value", [with_spec(restartPolicy=""), with_main(ports=[{"containerPort": 1, "name": "", "hostPort": 0}]), with_spec(subdomain="")]
)
def test_empty_is_left_out_elsewhere(value: Any) -> None:
    assert found(value) == []


@pytest.mark.parametrize("value", [with_spec(runtimeClassName=""), with_spec(preemptionPolicy=""), framework(role(), managedBy="")])
def test_but_not_everywhere(value: Any) -> None:
    assert [code for code, _ in found(value)] in (["FC141"], ["FC151"])


# Numbers, values and forms


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (framework(role(count=10_001)), "`taskNumber` is 10001, and must be between 0 and 10000"),
        (framework(role(count=-1)), "between 0 and 10000"),
        (framework(role(failed=-2)), "`minFailedTaskCount` is -2, and must be between -1 and 2147483647"),
        (framework(role(retry=-3)), "between -2 and 2147483647"),
        (framework(role(retry=2**31)), "`maxRetryCount` is 2147483648"),
        (with_main(ports=[{"containerPort": 65_536}]), "between 1 and 65535"),
        (
            with_main(ports=[{"containerPort": 10**50}]),
            "`containerPort` is a number of more than 40 digits, and must be between 1 and 65535",
        ),
        (with_main(livenessProbe={"exec": {"command": ["a"]}, "periodSeconds": -1}), "must be at least 0"),
        (with_spec(priority=2**31), "between -2147483648 and 2147483647"),
        (with_spec(tolerations=[{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 2**63}]), "9223372036854775807"),
    ],
)
def test_a_number_out_of_bounds(value: Any, says: str) -> None:
    finding = only(value)
    assert finding.rule.code == "FC131"
    assert says in finding.message


def test_a_file_mode_in_decimal() -> None:
    finding = only(with_spec(volumes=[{"name": "a", "secret": {"secretName": "b", "defaultMode": 644}}]))
    assert "write 420, octal 0644" in finding.message
    assert finding.fix is not None
    assert finding.fix.text == "420"


def test_too_many_items() -> None:
    assert found(with_spec(dnsConfig={"nameservers": ["1.1.1.1"] * 4})) == [("FC132", f"{POD}.spec.dnsConfig.nameservers")]


@pytest.mark.parametrize(
    ("value", "says", "fix"),
    [
        (with_spec(restartPolicy="never"), "did you mean `Never`? It can be Always, OnFailure or Never", None),
        (with_main(imagePullPolicy="always"), "did you mean `Always`?", "Always"),
        (with_main(imagePullPolicy="IfNotPresnt"), "did you mean `IfNotPresent`?", "IfNotPresent"),
        (framework(role(), executionType="Run"), "use Create, Start or Stop", None),
        (
            framework(role(), managedBy="kueue"),
            "did you mean `kueue.x-k8s.io/multikueue`? It can be frameworkcontroller.microsoft.com/frameworkcontroller or",
            None,
        ),
        (with_spec(restartPolicy="Sometimes"), "use Always, OnFailure or Never", None),
    ],
)
def test_an_unknown_value(value: Any, says: str, fix: str | None) -> None:
    finding = only(value)
    assert finding.rule.code == "FC141"
    assert says in finding.message
    assert (finding.fix.text if finding.fix else None) == (fix or ("Never" if says.startswith("did you mean `Never`") else None))


def test_a_value_of_another_version() -> None:
    value = with_main(restartPolicy="OnFailure")
    assert "came with Kubernetes 1.35, and this is checked for 1.33" in only(value, 33).message
    assert found(value, 35) == []


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (with_spec(containers=[{"name": "Main_1", "image": "a"}]), "`name` is `Main_1`, and must be at most 63 lower-case letters"),
        (framework(role(), name="my-train"), "`name` is `my-train`, and must be 1 to 63 lower-case letters and digits"),
        (framework(role("a" * 64)), "and must be 1 to 63"),
        (with_main(image=" busybox"), "write `busybox`, for example"),
        (with_main(resources={"limits": {"cpu": "100mi"}}), "write `100m`, for example"),
        (with_main(resources={"limits": {"memory": "100mi"}}), "write `100Mi`, for example"),
        (with_main(resources={"limits": {"memory": "64mb"}}), "write `64M`, for example"),
        (with_main(resources={"limits": {"memory": "64 m"}}), "write `64M`, for example"),
        (with_main(resources={"limits": {"cpu": "100mb"}}), "write `100m`, for example"),
        (with_main(resources={"limits": {"cpu": "500 m"}}), "write `500m`, for example"),
        (with_main(resources={"limits": {"memory": "16 GB"}}), "must be a quantity such as 500m, 2 or 16Gi; write `16G`, for example"),
        (with_main(ports=[{"containerPort": 1, "name": "prometheus-metrics"}]), "at most 15"),
        (with_spec(volumes=[{"name": "a", "nfs": {"server": "b", "path": "c"}}]), "must be an absolute path"),
        (with_main(env=[{"name": "A=B"}]), "printable ASCII characters other than `=`; write `A_B`"),
        (with_spec(hostAliases=[{"ip": "1.2.3"}]), "an IP address such as 10.9.8.7"),
        (framework(role(metadata={"labels": {"a": "b c"}})), "`a` is `b c`"),
    ],
)
def test_a_malformed_value(value: Any, says: str) -> None:
    finding = only(value)
    assert finding.rule.code == "FC151"
    assert says in finding.message


@pytest.mark.parametrize("text", ["Gi", "m", "-", ".", "+.k", "e3", " Mi "])
def test_a_quantity_without_a_number_is_0(text: str) -> None:
    finding = only(with_main(resources={"limits": {"memory": text}}))
    assert (finding.rule.code, finding.rule.severity.value) == ("FC154", "warning")


@pytest.mark.parametrize("number", ["0", "-0", ".5", "+1.", " 1Gi ", "1e3", "007", 0, 0.5])
def test_a_quantity_with_a_number(number: Any) -> None:
    assert found(with_main(resources={"limits": {"memory": number}})) == []


@pytest.mark.parametrize("key", ["a b", "-a", "a/b/c", "A.example/b", ""])
def test_a_malformed_label_key(key: str) -> None:
    finding = only(framework(role(metadata={"labels": {key: "x"}})))
    assert (finding.rule.code, finding.part) == ("FC152", "key")


def test_annotation_keys_may_have_upper_case_domains() -> None:
    assert found(framework(role(metadata={"annotations": {"A.Example/b": "x"}}))) == []


def test_annotations_together() -> None:
    fits = {"a": "x" * (256 * 1024 - 1)}
    assert found(framework(role(metadata={"annotations": fits}))) == []
    assert found(framework(role(metadata={"annotations": {**fits, "b": ""}}))) == [("FC153", f"{POD}.metadata.annotations")]
    assert found(framework(role(metadata={"annotations": {"a": "é" * (128 * 1024)}}))) == [("FC153", f"{POD}.metadata.annotations")]


def test_environment_names_are_stricter_in_old_versions() -> None:
    value = with_main(env=[{"name": "A B"}])
    assert [found(value, version) for version in (25, 31)] == [[("FC151", f"{MAIN}.env[0].name")]] * 2
    assert found(value, 32) == []


def test_addresses_are_stricter_in_new_versions() -> None:
    value = with_spec(hostAliases=[{"ip": "010.2.3.4"}, {"ip": "::ffff:1.2.3.4"}])
    assert found(value, 35) == []
    assert len(found(value, 36)) == 2


# Roles


def test_two_roles_of_one_name() -> None:
    finding = only(framework(role("a"), role("b"), role("a")))
    assert (finding.rule.code, field_path(finding.path)) == ("FC161", "spec.taskRoles[2].name")
    assert finding.related[0].path == ("spec", "taskRoles", 0, "name")


@pytest.mark.parametrize("roles", [[], None])
def test_no_roles(roles: Any) -> None:
    value = framework()
    value["spec"]["taskRoles"] = roles
    assert found(value) == [("FC162", "spec")]


# In general


def test_a_walk_over_a_template_has_paths_of_its_document() -> None:
    findings = list(
        walk(
            {"spec": {"containers": [{"name": "a", "image": "b", "securityContext": {"nodeName": "c"}}]}},
            "PodTemplateSpec",
            ("a", 0),
            version=36,
        )
    )
    assert [finding.path for finding in findings] == [("a", 0, "spec", "containers", 0, "securityContext", "nodeName")]
    assert "it is a field of `spec`, 2 levels up" in findings[0].message


def test_a_walk_over_something_else() -> None:
    assert [finding.path for finding in walk([], "PodTemplateSpec", ("a",), version=36)] == [("a",)]
    assert [finding.path for finding in walk([], "PodTemplateSpec", (), version=36)] == [()]


@pytest.mark.parametrize("field", ["image", "tty", "args", "ports", "resources", "livenessProbe"])
def test_a_number_that_python_does_not_write(field: str) -> None:
    """It refuses to turn more than 4,300 digits into text."""
    assert (
        "a number of more than 40 digits"
        in only(with_main(**{field: 10**5000}) if field != "image" else with_spec(hostname=10**5000)).message
    )


numbers = st.integers() | st.floats()
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
TEMPLATE = with_main(
    env=[{"name": "a", "value": "b"}],
    ports=[{"containerPort": 1}],
    resources={"limits": {"cpu": 1}},
    livenessProbe={"exec": {"command": ["a"]}},
)


def _paths(value: Any, path: Path = ()) -> list[Path]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(deeper for step, item in inner for deeper in _paths(item, (*path, step)))]


@given(path=st.sampled_from([path for path in _paths(TEMPLATE) if path]), value=values, version=st.integers(25, 37))
def test_nothing_that_is_put_anywhere_raises(path: Path, value: Any, version: int) -> None:
    changed = copy.deepcopy(TEMPLATE)
    owner: Any = changed
    for step in path[:-1]:
        owner = owner[step]
    owner[path[-1]] = value
    for finding in check(changed, version):
        assert finding.message
        assert not finding.message.endswith(".")
        json.dumps([finding.message, finding.path])


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (framework({**role(), "service": {"ports": [80]}}), "write `- {name: …, port: 80}`"),
        (framework({**role(), "service": {"ports": ["http"]}}), "write `- {name: …, port: 80}`"),
        (with_main(ports=[9000]), "write `- containerPort: 9000`"),
        (with_main(env=["A=b c"]), 'write `- {name: A, value: "b c"}`'),
        (framework({**role(), "service": True}), "write `{}`"),
        (framework(role(spec={"imagePullSecrets": ["regcred"]})), "write `{name: regcred}`"),
        (framework(role(spec={"volumes": [{"name": "v", "secret": "s"}]})), "write `{secretName: s}`"),
        (framework(role(spec={"volumes": [{"name": "v", "persistentVolumeClaim": "c"}]})), "write `{claimName: c}`"),
        (framework(role(spec={"volumes": [{"name": "v", "hostPath": "/data"}]})), "write `{path: /data}`"),
        (with_main(envFrom=[{"secretRef": "s3"}]), "write `{name: s3}`"),
        (with_main(securityContext={"capabilities": ["IPC_LOCK"]}), "write `{add: […]}`"),
        (with_main(env=["A"]), "`env[0]` must be a mapping, not the string `A`"),
        (with_main(env=[{"name": "A", "valueFrom": "status.podIP"}]), "write `{fieldRef: {fieldPath: status.podIP}}`"),
        (with_main(env=[{"name": "A", "valueFrom": "secret"}]), "`valueFrom` must be a mapping, not the string `secret`"),
        (with_main(envFrom=["settings"]), "write `- configMapRef: {name: settings}` or `- secretRef: {name: settings}`"),
        (with_main(livenessProbe={"httpGet": "/healthz"}), "write `{path: /healthz, port: …}`"),
        (with_main(livenessProbe={"tcpSocket": 8080}), "write `{port: 8080}`"),
        (with_main(livenessProbe={"grpc": "9000"}), "write `{port: 9000}`"),
        (with_main(livenessProbe={"exec": ["cat", "/ready"]}), "write `{command: […]}`"),
        (with_main(lifecycle={"preStop": {"exec": "sync"}}), "write `{command: […]}`"),
        (with_spec(volumes=["/data"]), "write `- {name: …, persistentVolumeClaim: {claimName: …}}` or `- {name: …, emptyDir: {}}`"),
        (with_main(image={"repository": "ubuntu", "tag": 22}), "write `ubuntu:22`"),
        (with_main(image={"repository": "r.example.com:5000/a/b"}), "write `r.example.com:5000/a/b`"),
        (with_main(volumeMounts=["data:/data"]), "write `- {name: data, mountPath: /data}`"),
        (with_main(volumeMounts=["/data"]), "write `- {name: …, mountPath: /data}`"),
        (with_main(volumeMounts="/data"), "write `- {name: …, mountPath: /data}`"),
        (with_main(env="FOO=bar"), 'write `- {name: FOO, value: "bar"}`'),
        (with_main(ports=8080), "write `- containerPort: 8080`"),
        (with_main(envFrom="settings"), "write `- configMapRef: {name: settings}` or `- secretRef: {name: settings}`"),
        (with_spec(imagePullSecrets="regcred"), "write `- {name: regcred}`"),
        (
            with_spec(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"matchExpressions": []}]}}),
            "write `{nodeSelectorTerms: […]}`",
        ),
        (with_spec(securityContext={"seccompProfile": "RuntimeDefault"}), "write `{type: RuntimeDefault}`"),
        (with_main(securityContext={"appArmorProfile": "Unconfined"}), "write `{type: Unconfined}`"),
        (
            with_spec(securityContext={"seccompProfile": "profiles/a.json"}),
            "`seccompProfile` must be a mapping, not the string `profiles/a.json`",
        ),
        (with_main(env=[{"name": "A", "valueFrom": {"secretKeyRef": "wandb"}}]), "write `{name: wandb, key: …}`"),
        (with_main(env=[{"name": "A", "valueFrom": {"configMapKeyRef": "c"}}]), "write `{name: c, key: …}`"),
        (with_main(lifecycle={"preStop": "sleep 5"}), "write `{exec: {command: […]}}`"),
        (with_main(ports=["http:80"]), "write `- containerPort: 80`"),
        (with_main(ports=["8080:80"]), "write `- containerPort: 80`"),
        (with_main(ports=["53/udp"]), "write `- containerPort: 53`"),
        (with_spec(securityContext={"supplementalGroups": 1000}), "write `[1000]`"),
        ({**framework(role()), "spec": {**framework(role())["spec"], "retryPolicy": "Never"}}, "write `{maxRetryCount: 0}`"),
        ({**framework(role()), "spec": {**framework(role())["spec"], "retryPolicy": "OnFailure"}}, "write `{maxRetryCount: -1}`"),
        ({**framework(role()), "spec": {**framework(role())["spec"], "retryPolicy": 3}}, "write `{maxRetryCount: 3}`"),
    ],
)
def test_the_form_of_an_object_is_given_for_a_number_or_word(value: Any, advice: str) -> None:
    assert [(one.rule.code, one.message.rpartition(": write")[2]) for one in check(value)] == [("FC111", advice.removeprefix("write"))]


@pytest.mark.parametrize(
    ("field", "word", "meaning"),
    [
        ("minSucceededTaskCount", "all", "-1 means that no number of successes ends the attempt"),
        ("minFailedTaskCount", "none", "-1 means that no number of failures ends the attempt"),
        ("minFailedTaskCount", "50%", ""),
    ],
)
def test_a_word_for_a_count_leads_to_the_number_that_means_it(field: str, word: str, meaning: str) -> None:
    message = only(framework({**role(), "frameworkAttemptCompletionPolicy": {field: word}})).message
    assert message == f"`{field}` must be a whole number, not the string `{word}`" + (f": {meaning}" if meaning else "")


@pytest.mark.parametrize(
    ("user", "advice"),
    [("root", ": root is 0"), ("nobody", ": write the number, which `id -u nobody` prints"), ("a b", ""), ("5m", "")],
)
def test_the_name_of_a_user_leads_to_a_number(user: str, advice: str) -> None:
    message = only(with_main(securityContext={"runAsUser": user})).message
    assert message == f"`runAsUser` must be a whole number, not the string `{user}`{advice}"
    of_group = only(with_spec(securityContext={"fsGroup": user})).message
    assert of_group == f"`fsGroup` must be a whole number, not the string `{user}`{advice.replace('id -u', 'id -g')}"


def test_no_is_not_quoted_where_only_some_words_are_allowed() -> None:
    """Quotes would make another error of it."""
    source = {"restartPolicy": "no"}
    found = list(structure(framework(role(spec={"restartPolicy": False})), version=36, plain=lambda path, part: source.get(str(path[-1]))))
    said = "`restartPolicy` must be a string, and `no` without quotes is the boolean false: use Always, OnFailure or Never"
    assert [(finding.rule.code, finding.message, finding.fix) for finding in found] == [("FC112", said, None)]


def test_retries_without_end_lead_to_the_number_that_means_them() -> None:
    message = only(framework({**role(), "task": {**role()["task"], "retryPolicy": {"maxRetryCount": "Infinity"}}})).message
    assert message.endswith("the string `Infinity`: -1 retries after every failure, -2 after every completion, success too")


@pytest.mark.parametrize(
    ("item", "advice"),
    [
        ({'echo "a': 'b"'}, ": quote the whole of it if it is one text, since `: ` makes a mapping of it"),
        ({"a": "b", "c": "d"}, ""),
        ({"a": {"b": "c"}}, ""),
    ],
)
def test_a_text_in_a_list_that_a_colon_divides(item: dict[str, Any], advice: str) -> None:
    assert only(with_main(command=["sh", "-c", item])).message == f"`command[2]` must be a string, not a mapping{advice}"


def test_a_mapping_for_a_text_that_is_no_item() -> None:
    assert only(with_main(image={"name": "a"})).message == "`image` must be a string, not a mapping"
    assert only(with_main(image={"tag": "v1"})).message == "`image` must be a string, not a mapping"
