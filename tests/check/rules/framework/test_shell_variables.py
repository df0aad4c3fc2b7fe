"""Variables of a shell where no shell reads them."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.check.rules.framework.shell_variables import shell_variable_rules
from tests.check.frameworks import context_of, framework, role


def messages(**fields: Any) -> list[str]:
    """Return what is told of a container with these fields."""
    value = framework(role(spec={"containers": [{"name": "main", "image": "a", **fields}]}))
    return [finding.message for finding in shell_variable_rules(context_of(value))]


@pytest.mark.parametrize("written", ["$FC_TASK_INDEX", "${FC_TASK_INDEX}", "/out/$FC_TASK_INDEX/x", "$FC_TASK_INDEX.log"])
def test_told(written: str) -> None:
    for fields in (
        {"env": [{"name": "RANK", "value": written}]},
        {"command": ["python", "train.py", f"--rank={written}"]},
        {"command": ["python"], "args": ["train.py", written]},
        {"volumeMounts": [{"name": "a", "mountPath": "/a", "subPath": written}]},
        {"volumeMounts": [{"name": "a", "mountPath": "/a", "subPathExpr": written}]},
    ):
        (message,) = messages(**fields)
        assert message.endswith("stays as it is, since no shell reads it: write {{FC_TASK_INDEX}}")


def test_what_to_write_instead() -> None:
    assert messages(env=[{"name": "A", "value": "$FC_POD_UID"}]) == [
        "`$FC_POD_UID` stays as it is, since no shell reads it: write $(FC_POD_UID)"
    ]
    assert messages(volumeMounts=[{"name": "a", "mountPath": "/a", "subPath": "$(FC_POD_UID)"}]) == [
        "`$(FC_POD_UID)` stays as it is, since Kubernetes does not replace it here: write $(FC_POD_UID) in `subPathExpr`"
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"command": ["sh", "-c", "echo $FC_TASK_INDEX"]},
        {"command": ["/bin/bash", "run", "$FC_TASK_INDEX"]},
        {"command": ["/run.sh", "$FC_TASK_INDEX"]},
        {"command": ["tini", "--", "bash", "-lc"], "args": ["$FC_TASK_INDEX"]},
        {"command": ["python", "-c", "$FC_TASK_INDEX"]},
        {"args": ["--rank=$FC_TASK_INDEX"]},
        {"command": ["python", "$(FC_TASK_INDEX)"], "env": [{"name": "A", "value": "$(FC_TASK_INDEX)"}]},
        {"command": ["python", "$$FC_TASK_INDEX"]},
        {"env": [{"name": "SCRIPT", "value": "echo $FC_TASK_INDEX"}]},
        {"env": [{"name": "A", "value": "$HOME"}, None, {"name": "B", "value": 1}]},
        {"volumeMounts": [{"name": "a", "mountPath": "/a", "subPathExpr": "$(FC_TASK_INDEX)"}]},
    ],
)
def test_fine(fields: dict[str, Any]) -> None:
    assert messages(**fields) == []
