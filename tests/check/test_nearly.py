"""Objects that are nearly Frameworks."""

from __future__ import annotations

from tests import laws


def test_what_is_nearly_a_framework_is_an_error_and_what_is_another_kind_is_not() -> None:
    roles = b"spec: {taskRoles: []}\n"
    for head in (b"apiVersion: frameworkcontroler.microsoft.com/v1\nkind: Framework\n", b"kind: Framework\n"):
        assert laws.run(["validate", "-"], head + roles).code == 1
    assert laws.run(["validate", "-"], b"apiVersion: frameworkcontroller.microsoft.com/v1\nkind: framework\n").code == 1
    for head in (b"apiVersion: framework.example.com/v1\nkind: Framework\n", b"apiVersion: v1\nkind: Framework\n"):
        assert laws.run(["validate", "-"], head + roles).code == 0
