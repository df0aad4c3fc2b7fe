"""The editor's schema accepts and refuses what the structure check does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

jsonschema = pytest.importorskip("jsonschema")

from fcompile.check.rules.framework.structure import structure  # noqa: E402
from fcompile.diagnostics.problem import Severity  # noqa: E402
from fcompile.schema.editor import editor_schema, rendered  # noqa: E402
from fcompile.schema.pod_schemas import DEFAULT_VERSION, VERSIONS  # noqa: E402
from tests.check.frameworks import framework, role  # noqa: E402
from tests.check.rules.framework import test_structure as samples  # noqa: E402
from tests.check.rules.framework.test_structure_server import ABSENT, Case, cases, template  # noqa: E402

VALIDATOR = jsonschema.Draft7Validator(editor_schema(DEFAULT_VERSION))


def with_template(pod: dict[str, Any]) -> dict[str, Any]:
    return framework({"name": "worker", "task": {"pod": pod}})


def by_check(value: Any) -> bool:
    return not any(finding.rule.severity is Severity.ERROR for finding in structure(value, version=DEFAULT_VERSION))


@pytest.mark.parametrize("version", VERSIONS)
def test_the_schema_of_every_version_is_one(version: int) -> None:
    jsonschema.Draft7Validator.check_schema(editor_schema(version))


def test_the_file_is_current(repository: Path) -> None:
    assert (repository / "schemas" / "framework.schema.json").read_text("utf-8") == rendered(DEFAULT_VERSION)


def differs_on_purpose(case: Case) -> bool:
    """Where the schema says less or more: it knows no addresses, no bounds of 64 bits and no amounts without digits, and offers no empty
    string among values. (And `$` stands before a line end in Python's regular expressions, not in JavaScript's.)
    """
    if "ip" in case.path or "nameservers" in case.path or (isinstance(case.value, int | float) and abs(case.value) >= 2**63):
        return True
    return (case.accepted and case.value in ("", ".")) or (isinstance(case.value, str) and case.value != case.value.strip())


def test_it_agrees_with_the_check_on_what_the_server_was_asked() -> None:
    wrong = []
    # Every seventh is enough for tables that are the same, and as many as a slow validator can do.
    for case in cases()[::7]:
        value = with_template(template(case))
        if not differs_on_purpose(case) and VALIDATOR.is_valid(value) != by_check(value):
            wrong.append((case.path, "ABSENT" if case.value is ABSENT else case.value, by_check(value)))
    assert wrong == []


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        (framework(role()), True),
        (framework(role(service={"ports": [{"port": 80}]})), True),
        (framework({**role(), "taskNumbr": 1}), False),
        (framework(role(count=10_001)), False),
        (framework(role(), name="My-Train"), False),
        (framework(role(), executionType="Run"), False),
        (framework({"name": "worker"}), False),
        (samples.with_main(env=[{"name": "A", "value": 1}]), False),
        (samples.with_main(resources={"limits": {"cpu": 0.5, "memory": "16 GB"}}), False),
        (samples.with_spec(hostname="{{FC_TASKROLE_NAME}}-{{FC_TASK_INDEX}}"), True),
        (samples.with_spec(hostname="h-{{FC_TASK_INDEX+1}}"), True),
        (samples.with_spec(hostname="h-{{FC_TASK_INDEX-99999}}"), True),
        (samples.with_spec(hostname="h-{{FC_TASK_INDEX+100000}}"), False),
        (samples.with_spec(hostname="h-{{FC_POD_NAME+1}}"), False),
        (framework(role(metadata={"labels": {"{{FC_TASKROLE_NAME}}": "{{FC_POD_NAME}}"}})), True),
    ],
)
def test_frameworks(value: Any, valid: bool) -> None:
    assert VALIDATOR.is_valid(value) == valid


def test_fields_are_described_and_have_their_defaults() -> None:
    schema = editor_schema(30)
    assert schema["definitions"]["TaskRole"]["properties"]["taskNumber"]["default"] == 1
    link = schema["definitions"]["Container"]["properties"]["image"]["markdownDescription"]
    assert link == "[Container.image](https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.30/#container-v1-core)"
    assert "hostnameOverride" not in schema["definitions"]["PodSpec"]["properties"]


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    from fcompile.cli import main

    assert main(["schema", "--kubernetes-version", "1.29"]) == 0
    assert capsys.readouterr().out == rendered(29)
    assert main(["schema", "--kubernetes-version", "1.12"]) == 2
