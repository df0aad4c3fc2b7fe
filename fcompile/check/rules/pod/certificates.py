"""Certificates in projected volumes: trust bundles of the cluster, and certificates issued for the Pod."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_values import given, size
from fcompile.check.rules.pod.selectors import selector_rules
from fcompile.diagnostics.problem import Finding, Path, error_rule
from fcompile.model.formats import MAX_ANNOTATIONS, accepts
from fcompile.model.values import integer, mapping, text

TRUST_BUNDLE = error_rule(
    code="FC248",
    name="cluster-trust-bundle",
    summary="A clusterTrustBundle does not say, or says twice, which bundles are meant.",
    why="It has either `name`, or `signerName` with an optional `labelSelector`. A signer is DOMAIN/PATH.",
    remedy="Give one of the two.",
)
CERTIFICATE = error_rule(
    code="FC249",
    name="pod-certificate",
    summary="A podCertificate is written to no file, or asks for what its signer does not issue.",
    why=(
        "It has at least one of credentialBundlePath, keyPath and certificateChainPath. A signer is DOMAIN/PATH; those of "
        "kubernetes.io sign for at most 86400 seconds."
    ),
    remedy="Correct what the message names.",
)

CERTIFICATE_FILES = ("credentialBundlePath", "keyPath", "certificateChainPath")
"""The fields of a podCertificate that name its files."""
_LONGEST_OF_KUBERNETES = 86_400
_MAX_SIGNER = 571


def trust_bundle_rules(part: dict[str, Any], path: Path) -> Iterator[Finding]:
    """Yield the problems of a `clusterTrustBundle`."""
    has_name, has_signer = given(part, "name"), given(part, "signerName")
    name, signer, selector = text(part, "name"), text(part, "signerName"), part.get("labelSelector")
    if has_name == has_signer:
        yield Finding(TRUST_BUNDLE, path, "`clusterTrustBundle` needs either `name` or `signerName`; give one of the two")
    elif has_name:
        if name is not None and not accepts("dns-subdomain")(name.rpartition(":")[2]):
            message = f'"{name}" is not the name of a trust bundle; write NAME or SIGNER-DOMAIN:SIGNER-PATH:NAME'
            yield Finding(TRUST_BUNDLE, (*path, "name"), message)
        if selector is not None:
            yield Finding(TRUST_BUNDLE, (*path, "labelSelector"), "`labelSelector` goes with `signerName` only; remove it", part="key")
    else:
        if signer is not None and not _is_signer(signer):
            yield Finding(TRUST_BUNDLE, (*path, "signerName"), f'"{signer}" is not a signer; write DOMAIN/PATH, such as example.com/signer')
        yield from selector_rules(part, path, "labelSelector")


def certificate_rules(part: dict[str, Any], path: Path) -> Iterator[Finding]:
    """Yield the problems of a `podCertificate`."""
    signer = text(part, "signerName")
    if signer and not _is_signer(signer):
        yield Finding(CERTIFICATE, (*path, "signerName"), f'"{signer}" is not a signer; write DOMAIN/PATH, such as example.com/signer')
    if not any(text(part, key) for key in CERTIFICATE_FILES):
        yield Finding(CERTIFICATE, path, f"`podCertificate` is written to no file; add at least one of {', '.join(CERTIFICATE_FILES)}")
    seconds, host = integer(part, "maxExpirationSeconds"), (signer or "").partition("/")[0]
    if seconds is not None and seconds > _LONGEST_OF_KUBERNETES and f".{host}".endswith(".kubernetes.io"):
        message = f"`maxExpirationSeconds` {seconds} is more than the {_LONGEST_OF_KUBERNETES} of signers of kubernetes.io; lower it"
        yield Finding(CERTIFICATE, (*path, "maxExpirationSeconds"), message)
    annotations = mapping(part, "userAnnotations")
    if sum(size(str(key)) + size(text(annotations, key) or "") for key in annotations) > MAX_ANNOTATIONS:
        message = f"`userAnnotations` hold more than {MAX_ANNOTATIONS} bytes; shorten them"
        yield Finding(CERTIFICATE, (*path, "userAnnotations"), message, part="key")
    for key in annotations:
        if isinstance(key, str) and (key.count("/") != 1 or not accepts("annotation-key")(key)):
            message = f'the annotation "{key}" has no domain; write one such as example.com/name'
            yield Finding(CERTIFICATE, (*path, "userAnnotations", key), message, part="key")


def _is_signer(name: str) -> bool:
    domain, slash, path = name.partition("/")
    labels = domain.split(".")
    if not slash or "/" in path or len(domain) > 253 or len(labels) < 2 or len(name) > _MAX_SIGNER:
        return False
    return all(accepts("dns-label")(label) for label in labels) and all(accepts("dns-subdomain")(label) for label in path.split("."))
