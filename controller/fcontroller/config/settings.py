"""Everything that can be set: one table, from which come the flags, the environment variables, the config file's keys and the docs."""

from __future__ import annotations

import re
from typing import NamedTuple

from fcontroller.decide.context import SNAPSHOTS

Value = str | int | float | bool

LEVELS = ("debug", "info", "warning", "error")


class Setting(NamedTuple):
    """One setting. The type of its default is its type."""

    key: str
    """In the config file; of one in a mapping, the keys that lead to it with dots between them."""
    default: Value
    about: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    metavar: str = ""
    flag: str = ""
    """When it is not the key in kebab case."""
    customary: str = ""
    """A variable of the environment that counts when nothing else is given."""
    unused: str = ""
    """Why a key of upstream's means nothing here; it is accepted all the same."""

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(self.key.split("."))

    @property
    def name(self) -> str:
        """In `Config`."""
        return _words(self.path[-1], "_")

    @property
    def option(self) -> str:
        """On the command line; empty: only the file has it."""
        return "" if self.only_in_file else self.flag or f"--{_words(self.key, '-')}"

    @property
    def variable(self) -> str:
        """In the environment; empty: only the file has it."""
        return "" if self.only_in_file else f"FCONTROLLER_{_words(self.option[2:], '_').upper()}"

    @property
    def only_in_file(self) -> bool:
        return bool(self.unused) or "." in self.key


def _words(text: str, joint: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|-", joint, text).lower()


_NO_RATE = "there is no fixed rate: so many requests at a time are made as the server answers, and its 429 and Retry-After are obeyed"
_NO_CRD = "the controller does not create the CustomResourceDefinition; apply what `fcompile crd` prints"

SETTINGS = (
    Setting("kubeConfigFilePath", "", "kubeconfig (default: $KUBECONFIG, ~/.kube/config or, in a Pod, its service account)", metavar="FILE",
            flag="--kubeconfig"),
    Setting("kubeApiServerAddress", "", "http[s]://host:port instead of the kubeconfig's server (default: $KUBE_APISERVER_ADDRESS)",
            metavar="URL", customary="KUBE_APISERVER_ADDRESS"),
    Setting("namespace", "", "run only the Frameworks of this namespace (default: all)", metavar="NAME"),
    Setting("listen", ":8080", "where /metrics, /healthz and /readyz are served; empty: nowhere", metavar="HOST:PORT"),
    Setting("logLevel", "info", "log nothing below this", choices=LEVELS),
    Setting("leaseNamespace", "default", "where the Lease is", metavar="NAME"),
    Setting("leaseName", "fcontroller", "the Lease of all replicas", metavar="NAME"),
    Setting("leaseSeconds", 15.0, "how long the Lease lasts without a renewal", least=1, most=3600, metavar="SECONDS"),
    Setting("enforceIntent", True, "run nothing that differs from what a Framework's digest says was reviewed"),
    Setting("requireDigest", False, "as enforceIntent, and begin no attempt of a Framework that has no digest"),
    Setting("dryRun", False, "log what would be done next and write nothing, the Lease included"),
    Setting("frameworkCompletedRetainSec", 30 * 24 * 3600, "delete a Framework so long after it has completed", least=0, metavar="SECONDS"),
    Setting("frameworkMinRetryDelaySecForTransientConflictFailed", 60, "the shortest wait before a retry after a transient conflict",
            least=0, metavar="SECONDS"),
    Setting("frameworkMaxRetryDelaySecForTransientConflictFailed", 900, "the longest one", least=0, metavar="SECONDS"),
    Setting("objectLocalCacheCreationTimeoutSec", 300, "take what was created and not seen for so long for deleted", least=60,
            metavar="SECONDS"),
    Setting("logObjectSnapshot.framework.onFrameworkRetry", True, "log a Framework as it is before each retry"),
    Setting("logObjectSnapshot.framework.onFrameworkDeletion", True, "log a Framework when it is deleted"),
    Setting("logObjectSnapshot.task.onTaskRetry", True, "log a task as it is before each retry"),
    Setting("logObjectSnapshot.task.onTaskDeletion", True, "log a task when it is scaled away"),
    Setting("logObjectSnapshot.pod.onPodDeletion", False, "log a Pod when it is deleted (upstream's default is true)"),
    Setting("kubeClientQps", 80.0, "", least=0, most=10_000, unused=_NO_RATE),
    Setting("kubeClientBurst", 120, "", least=0, most=10_000, unused=_NO_RATE),
    Setting("workerNumber", 200, "", least=1, unused="there are no workers: all Frameworks are run at the same time"),
    Setting("largeFrameworkCompression", False, "", unused="the status of a large Framework is always compressed, and no other"),
    Setting("crdEstablishedCheckIntervalSec", 1, "", least=1, unused=_NO_CRD),
    Setting("crdEstablishedCheckTimeoutSec", 60, "", least=10, unused=_NO_CRD),
)  # fmt: skip
"""All but `podFailureSpec`, which is no single value."""


class Config(NamedTuple):
    """The settings that mean something, with the names and defaults of `SETTINGS`."""

    kube_config_file_path: str = ""
    kube_api_server_address: str = ""
    namespace: str = ""
    listen: str = ":8080"
    log_level: str = "info"
    lease_namespace: str = "default"
    lease_name: str = "fcontroller"
    lease_seconds: float = 15.0
    enforce_intent: bool = True
    require_digest: bool = False
    dry_run: bool = False
    framework_completed_retain_sec: int = 30 * 24 * 3600
    framework_min_retry_delay_sec_for_transient_conflict_failed: int = 60
    framework_max_retry_delay_sec_for_transient_conflict_failed: int = 900
    object_local_cache_creation_timeout_sec: int = 300
    on_framework_retry: bool = True
    on_framework_deletion: bool = True
    on_task_retry: bool = True
    on_task_deletion: bool = True
    on_pod_deletion: bool = False

    @property
    def snapshots(self) -> frozenset[str]:
        """When an object is logged as it is."""
        return frozenset(trigger for trigger in SNAPSHOTS if getattr(self, _words(trigger, "_")))


def wrong(setting: Setting, value: object) -> str | None:
    """What is wrong with a value for a setting; None: nothing. Whole numbers will do where there may be a fraction."""
    kind = type(setting.default)
    if isinstance(value, bool) != (kind is bool) or not isinstance(value, (int, float) if kind is float else kind):
        return f"{_shown(value)} is not {_KINDS[kind]}"
    if setting.choices and value not in setting.choices:
        return f"{_shown(value)} is not one of {', '.join(setting.choices)}"
    if isinstance(value, int | float) and not (setting.least or 0) <= value <= (setting.most or 2**53):
        return f"{value} is out of range: write a number from {setting.least or 0} {f'to {setting.most}' if setting.most else 'on'}"
    return None


_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string; write it in quotes",
}


def _shown(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
    return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else f"`{text[:60]}`"
