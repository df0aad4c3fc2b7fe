"""DNS, host aliases and host names of a Pod."""

from __future__ import annotations

from collections.abc import Iterator

from fcompile.check.pod_context import Pod
from fcompile.check.pod_values import empty_list, flag, given, texts
from fcompile.check.seen import repeated
from fcompile.diagnostics.problem import Finding, error_rule, warning_rule
from fcompile.model import gates
from fcompile.model.values import mapping

DNS_CONFIG = error_rule(
    code="FC285",
    name="dns-config",
    summary="`dnsPolicy: None` comes without a nameserver, or there are too many search domains.",
    why=(
        "`dnsPolicy: None` needs at least one nameserver in `dnsConfig`. The search domains have at most 2048 characters "
        "together (in Kubernetes 1.25: at most 6 of them, of 256 characters)."
    ),
    remedy="Add a nameserver, or remove search domains.",
)
HOSTNAME = error_rule(
    code="FC286",
    name="hostname-override",
    summary="hostnameOverride does not go with another setting.",
    why="It excludes `setHostnameAsFQDN` and `hostNetwork`.",
    remedy="Drop one of the two.",
)
DUPLICATE_ALIAS = warning_rule(
    code="FC287",
    name="duplicate-host-alias",
    summary="Two host aliases have the same IP address.",
    why="An apply may drop one of them.",
    remedy="Put all its names into one entry.",
)

_MOST_SEARCHES_AT_FIRST = 6


def networking_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of DNS settings, host aliases and host names."""
    if "dnsConfig" in pod.spec or "dnsPolicy" in pod.spec:
        yield from _dns(pod)
    for address, path, first in repeated(pod.spec, pod.path, "hostAliases", "ip"):
        message = f'the address "{address}" has an entry already; put all its names into one'
        yield Finding(DUPLICATE_ALIAS, path, message, related=first)
    if given(pod.spec, "hostnameOverride") and pod.version >= gates.HOSTNAME_OVERRIDE:
        for key in ("setHostnameAsFQDN", "hostNetwork"):
            if flag(pod.spec, key):
                message = f"`hostnameOverride` does not go with `{key}`; drop one of the two"
                yield Finding(HOSTNAME, (*pod.path, "hostnameOverride"), message, part="key")


def _dns(pod: Pod) -> Iterator[Finding]:
    config = mapping(pod.spec, "dnsConfig")
    if pod.spec.get("dnsPolicy") == "None" and empty_list(config, "nameservers"):
        field_path = (*pod.path, "dnsPolicy")
        yield Finding(DNS_CONFIG, field_path, "`dnsPolicy: None` needs nameservers; list at least one in `dnsConfig.nameservers`")
    searches = [search for search, _ in texts(config, (*pod.path, "dnsConfig"), "searches")]
    path = (*pod.path, "dnsConfig", "searches")
    expanded = pod.version >= gates.EXPANDED_DNS
    if not expanded and len(searches) > _MOST_SEARCHES_AT_FIRST:
        message = f"{len(searches)} search domains are more than {_MOST_SEARCHES_AT_FIRST}; remove some"
        yield Finding(DNS_CONFIG, path, message, part="key")
    length, most = len(" ".join(searches)), 2048 if expanded else 256
    if length > most:
        message = f"the search domains have {length} characters together (with blanks between), more than {most}; remove some"
        yield Finding(DNS_CONFIG, path, message, part="key")
