"""`fcompile schema`."""

from __future__ import annotations

import sys

from fcompile.commands.group import command
from fcompile.commands.options import kubernetes_version
from fcompile.pipeline.settings import kubernetes_minor
from fcompile.schema.editor import rendered


@command(
    page="install.md#in-an-editor",
    examples={
        "fcompile schema > framework.schema.json": "the file that an editor is told of",
        "fcompile schema --kubernetes-version 1.30 > framework.schema.json": "with the Pod fields of an older cluster",
    },
)
@kubernetes_version
def schema(*, kubernetes_version: str) -> int:
    """Print the JSON Schema (draft-07) of a Framework, for editors.

    In a file, `# yaml-language-server: $schema=…` names it; in VS Code, the setting `yaml.schemas` names it for many files at once.
    """
    sys.stdout.write(rendered(kubernetes_minor(kubernetes_version)))
    return 0
