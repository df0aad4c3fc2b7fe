"""The Framework's own field tables."""

from __future__ import annotations

from fcompile.model.framework import SERVER_SET
from fcompile.schema.pod_schemas import POD_TEMPLATE
from fcompile.schema.types import FRAMEWORK_TYPES
from tests.reading import all_types, pod_type_names
from tools.framework_types import tables


def test_they_are_what_the_models_declare() -> None:
    assert tables() == FRAMEWORK_TYPES


def test_every_type_that_is_named_is_there() -> None:
    types = all_types(36)
    assert {field.ref for fields in types.values() for field in fields.values() if field.ref} <= set(types)


def test_own_types_do_not_hide_kubernetes() -> None:
    assert not set(FRAMEWORK_TYPES) & set(pod_type_names())
    assert FRAMEWORK_TYPES["TaskSpec"]["pod"].ref == POD_TEMPLATE


def test_every_field_is_described() -> None:
    assert [(name, field) for name, fields in FRAMEWORK_TYPES.items() for field, form in fields.items() if not form.description] == []


def test_the_manuals_defaults() -> None:
    defaults = {
        f"{name}.{field}": form.default
        for name, fields in FRAMEWORK_TYPES.items()
        for field, form in fields.items()
        if form.default is not None
    }
    assert defaults == {
        "FrameworkSpec.executionType": "Start",
        "FrameworkSpec.retryPolicy": {},
        "RetryPolicy.fancyRetryPolicy": False,
        "RetryPolicy.maxRetryCount": 0,
        "TaskRole.taskNumber": 1,
        "TaskRole.frameworkAttemptCompletionPolicy": {},
        "CompletionPolicy.minFailedTaskCount": 1,
        "CompletionPolicy.minSucceededTaskCount": -1,
        "TaskRoleService.publishNotReadyAddresses": True,
        "TaskRoleServicePort.protocol": "TCP",
        "TaskSpec.retryPolicy": {},
    }


def test_what_only_the_server_writes() -> None:
    metadata = FRAMEWORK_TYPES["FrameworkMetadata"]
    assert tuple(name for name, field in metadata.items() if field.description.startswith("Set by the API server")) == SERVER_SET
