"""`fcompile crd`."""

from __future__ import annotations

import sys

from fcompile.commands.group import command
from fcompile.commands.options import kubernetes_version
from fcompile.pipeline.settings import kubernetes_minor
from fcompile.schema.crd import rendered


@command(
    page="upstream-crd.md",
    examples={
        "fcompile crd | kubectl apply --server-side -f -": "install it, or bring it up to date",
        "fcompile crd --kubernetes-version 1.30 > crd.yaml": "for an older cluster",
    },
)
@kubernetes_version
def crd(*, kubernetes_version: str) -> int:
    """Print the CustomResourceDefinition of Framework, for `kubectl apply -f -`.

    Its Pod templates have the fields of one Kubernetes version: give the cluster's with --kubernetes-version.
    """
    sys.stdout.write(rendered(kubernetes_minor(kubernetes_version)))
    return 0
