"""The Pod's service account and its pull secrets."""

from __future__ import annotations

from collections.abc import Iterator

from fcompile.check.pod_context import Pod
from fcompile.check.pod_values import entries
from fcompile.check.seen import Seen
from fcompile.diagnostics.problem import Finding, error_rule, warning_rule
from fcompile.model.formats import accepts
from fcompile.model.values import text

TWO_ACCOUNTS = warning_rule(
    code="FC297",
    name="two-service-accounts",
    summary="serviceAccount and serviceAccountName differ.",
    why="`serviceAccount` is the old name of the field and is ignored when both are there.",
    remedy="Keep `serviceAccountName`.",
)
ACCOUNT_NAME = error_rule(
    code="FC299",
    name="service-account-name",
    summary="The service account has no valid name.",
    why="A service account's name has small letters, digits, `-` and `.`. (`serviceAccount` is the old name of `serviceAccountName`.)",
    remedy="Correct the name, or remove it for the namespace's default account.",
)
PULL_SECRET = warning_rule(
    code="FC298",
    name="pull-secret",
    summary="A pull secret has no name, or is listed twice.",
    why="Each entry of `imagePullSecrets` names a Secret, once.",
    remedy="Remove the entry that is not meant.",
)


def account_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of the service account and of `imagePullSecrets`."""
    old, new = text(pod.spec, "serviceAccount"), text(pod.spec, "serviceAccountName")
    if old and new and old != new:
        message = f'`serviceAccount` "{old}" is ignored beside `serviceAccountName` "{new}"; remove it'
        yield Finding(TWO_ACCOUNTS, (*pod.path, "serviceAccount"), message, part="key")
    elif old and not new and not accepts("dns-subdomain")(old):
        yield Finding(ACCOUNT_NAME, (*pod.path, "serviceAccount"), f'"{old}" cannot be the name of a service account; correct it')
    seen = Seen()
    for secret, path in entries(pod.spec, pod.path, "imagePullSecrets"):
        name = text(secret, "name") or ""
        if not name:
            yield Finding(PULL_SECRET, path, "the pull secret has no `name`; add it, or remove the entry")
        elif first := seen.again(name, path):
            yield Finding(PULL_SECRET, path, f'the pull secret "{name}" is listed twice; remove one entry', related=first)
