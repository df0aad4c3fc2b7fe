"""All settings. Flags, environment variables, keys of the config file and the tables of the docs are generated from `Config`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel, to_pascal
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

Value = str | int | float | bool
FAILURES: Final = "podFailureSpec"
_MOST: Final = 2**53
"""JSON has no greater number that everybody reads as the same."""


@dataclass(frozen=True)
class Option:
    """How a setting is given outside of the config file."""

    metavar: str | None = None
    flag: str = ""
    """Empty: its name in kebab case."""
    customary: str = ""
    """A variable of the environment that counts when nothing else is given."""
    otherwise: str = ""
    """What holds where it is not given, of a setting whose default is empty."""
    form: str = "a name: lower-case letters, digits, dashes and dots"
    """What a value is that has the form of its pattern."""


_NAME: Final = r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?"
_NAMESPACE_FORM: Final = "the name of a namespace: at most 63 lower-case letters, digits and dashes"
_LABEL: Final = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_PORT: Final = "([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
"""Checked here: uvloop listens at 99999 modulo 65536."""
Namespace = Annotated[str, Field(pattern=f"^({_LABEL})?$"), Option("NAME", otherwise="all", form=_NAMESPACE_FORM)]
NamespaceOfLease = Annotated[str, Field(pattern=f"^{_LABEL}$"), Option("NAME", form=_NAMESPACE_FORM)]
NameOfLease = Annotated[str, Field(pattern=f"^{_NAME}$"), Option("NAME")]
TrackingLabel = Annotated[
    str,
    Field(pattern=rf"^(({_NAME}/)?[A-Za-z0-9]([A-Za-z0-9_.-]{{0,61}}[A-Za-z0-9])?)?$"),
    Option("LABEL", otherwise="none", form="the name of a label, as app.kubernetes.io/instance"),
]
Seconds = Annotated[int, Field(ge=0, le=_MOST), Option("SECONDS")]
Count = Annotated[int, Field(ge=1, le=_MOST)]
Kubeconfig = Annotated[str, Option("FILE", flag="--kubeconfig", otherwise="$KUBECONFIG, ~/.kube/config or, in a Pod, its service account")]
Server = Annotated[
    str,
    Field(pattern=r"^(https?://[^/\s]+/?.*)?$"),
    Option(
        "URL", customary="KUBE_APISERVER_ADDRESS", otherwise="$KUBE_APISERVER_ADDRESS", form="a URL that begins with http:// or https://"
    ),
]
Listen = Annotated[
    str,
    Field(pattern=rf"^(([^\s:]*:|\[[0-9A-Fa-f:.]+\]:)?{_PORT})?$"),
    Option("HOST:PORT", form="HOST:PORT, as 127.0.0.1:8080, or :PORT for all addresses; a port is at most 65535"),
]
_NO_RATE = "there is no fixed rate: so many requests at a time are made as the server answers, and its 429 and Retry-After are obeyed"
_NO_CRD = "the controller does not create the CustomResourceDefinition; apply what `fcompile crd` prints"


def _setting(default: Any, about: str) -> Any:
    return Field(default, description=about)


def _unused(default: Any, why: str) -> Any:
    """Return a field for a key of upstream's that is accepted and means nothing here."""
    return Field(default, deprecated=why)


class _Mapping(BaseModel):
    """A mapping of the config file. Its fields have their keys there as aliases."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, validate_default=True, alias_generator=to_camel)

    @model_validator(mode="before")
    @classmethod
    def _null_is_not_given(cls, value: Any) -> Any:
        known = {field.alias for field in cls.model_fields.values()}
        return {key: item for key, item in value.items() if item is not None or key not in known} if isinstance(value, dict) else value


class _FrameworkSnapshots(_Mapping):
    on_framework_retry: bool = _setting(True, "log a Framework as it is before each retry")
    on_framework_deletion: bool = _setting(True, "log a Framework when it is deleted")


class _TaskSnapshots(_Mapping):
    on_task_retry: bool = _setting(True, "log a task as it is before each retry")
    on_task_deletion: bool = _setting(True, "log a task when it is scaled away")


class _PodSnapshots(_Mapping):
    on_pod_deletion: bool = _setting(False, "log a Pod when it is deleted (upstream's default is true)")


class _Snapshots(_Mapping):
    framework: _FrameworkSnapshots = _FrameworkSnapshots()
    task: _TaskSnapshots = _TaskSnapshots()
    pod: _PodSnapshots = _PodSnapshots()


class Config(_Mapping):
    """All settings, with their bounds and defaults."""

    kube_config_file_path: Kubeconfig = _setting("", "kubeconfig")
    kube_api_server_address: Server = _setting("", "http[s]://host:port instead of the kubeconfig's server")
    namespace: Namespace = _setting("", "run only the Frameworks of this namespace")
    listen: Listen = _setting(":8080", "where /metrics, /healthz and /readyz are served; empty: nowhere")
    log_level: Literal["debug", "info", "warning", "error"] = _setting("info", "log nothing below this")
    lease_namespace: NamespaceOfLease = _setting("default", "the namespace of the Lease")
    lease_name: NameOfLease = _setting("fcontroller", "the Lease of all replicas")
    lease_seconds: Annotated[float, Field(ge=1, le=3600), Option("SECONDS")] = _setting(15.0, "how long the Lease lasts without a renewal")
    enforce_intent: bool = _setting(True, "do not run what does not match the Framework's digest, which says what was reviewed")
    require_digest: bool = _setting(False, "as enforceIntent; and begin no attempt of a Framework without a digest")
    dry_run: bool = _setting(False, "log what would be done next and write nothing, the Lease included")
    framework_completed_retain_sec: Seconds = _setting(
        30 * 24 * 3600, "delete a Framework so long after it has completed, unless a GitOps tool tracks it"
    )
    tracking_label: TrackingLabel = _setting(
        "", "a label that says, too, that a GitOps tool tracks a Framework, as app.kubernetes.io/instance"
    )
    framework_min_retry_delay_sec_for_transient_conflict_failed: Seconds = _setting(
        60, "the shortest wait before a retry after a transient conflict"
    )
    framework_max_retry_delay_sec_for_transient_conflict_failed: Seconds = _setting(900, "the longest one")
    object_local_cache_creation_timeout_sec: Annotated[Seconds, Field(ge=60)] = _setting(
        300, "an object that was created counts as deleted when no watch has shown it for so long"
    )
    log_object_snapshot: _Snapshots = _Snapshots()
    kube_client_qps: Annotated[float, Field(ge=0, le=10_000)] = _unused(80.0, _NO_RATE)
    kube_client_burst: Annotated[int, Field(ge=0, le=10_000)] = _unused(120, _NO_RATE)
    worker_number: Count = _unused(200, "there are no workers: all Frameworks are run at the same time")
    large_framework_compression: bool = _unused(False, "the status of a large Framework is always compressed, and no other")
    crd_established_check_interval_sec: Count = _unused(1, _NO_CRD)
    crd_established_check_timeout_sec: Annotated[Count, Field(ge=10)] = _unused(60, _NO_CRD)
    pod_failure_spec: Any = None
    """None: the list that comes with the controller. What is wrong with it says `decide.failures`."""

    @property
    def snapshots(self) -> frozenset[str]:
        """Return the events at which an object is logged as a snapshot, a subset of `decide.context.SNAPSHOTS`."""
        kinds = self.log_object_snapshot.model_dump().values()
        return frozenset(to_pascal(when) for kind in kinds for when, wanted in kind.items() if wanted)


class Setting(NamedTuple):
    """A field of `Config`, with the names by which users know it."""

    path: tuple[str, ...]
    """The keys that lead to it in the config file."""
    key: str
    """These keys with dots between them."""
    flag: str
    variable: str
    """In the environment; as the flag, empty when only the file has the setting."""
    default: Value
    """The type of which is its type."""
    about: str
    """What it is for; of a key that means nothing here, why."""
    choices: tuple[str, ...]
    """The only values that it may have; empty: there are others."""
    option: Option
    field: FieldInfo

    def mistake(self, error: ErrorDetails) -> str:
        """Return what is wrong with a value, in words made from pydantic's error."""
        value = error["input"]
        if error["type"] in ("greater_than_equal", "less_than_equal"):
            least, most = (max(getattr(found, end, 0) for found in self.field.metadata) for end in ("ge", "le"))
            written = int(value) if float(value).is_integer() else value  # a whole number as it is written, without `.0`
            return f"{written} is out of range: write a number from {least} {'on' if most == _MOST else f'to {most}'}"
        if error["type"] == "string_pattern_mismatch" or (error["type"] == "string_unicode" and isinstance(value, str)):
            return f"{_shown(value)} is not {self.option.form}"
        if self.choices and isinstance(value, str):
            return f"{_shown(value)} is not one of {', '.join(self.choices)}"
        return f"{_shown(value)} is not {_TYPES[type(self.default)]}"


_TYPES: Final = {bool: "true or false", int: "a whole number", float: "a number", str: "a string; write it in quotes"}


def _shown(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
    return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else f"`{text[:60]}`"


def _settings(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[Setting]:
    for name, field in model.model_fields.items():
        path, default = (*above, field.alias or name), field.default
        if isinstance(default, BaseModel):
            yield from _settings(type(default), path)
        elif default is not None:
            option = next((found for found in field.metadata if isinstance(found, Option)), Option())
            flag = "" if above or field.deprecated else option.flag or f"--{name.replace('_', '-')}"
            variable = flag and f"FCONTROLLER_{flag[2:].replace('-', '_').upper()}"
            about, choices = str(field.description or field.deprecated), get_args(field.annotation)
            yield Setting(path, ".".join(path), flag, variable, default, about, choices, option, field)


SETTINGS: Final = tuple(_settings(Config))
"""All but `podFailureSpec`, which has more than one value."""
