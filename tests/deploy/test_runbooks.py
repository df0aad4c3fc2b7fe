"""What docs/runbooks.md says to type works when things are as its alerts say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cluster import Cluster
from tests.deploy.test_readme import type_in
from tests.docs import blocks
from tests.drift import upstream


def section(repository: Path, name: str) -> list[str]:
    """The lines of the first block of commands below a heading."""
    block = next(block for block in blocks.blocks(repository / "docs" / "runbooks.md") if block.section == name and block.language == "sh")
    return block.text.splitlines()


@pytest.mark.parametrize("what", ["schemas", "deploy"])
def test_what_others_have_changed_is_taken_back(own_cluster: Cluster, repository: Path, what: str) -> None:
    """Without the flag the API server refuses it, as a conflict with whoever has changed it."""
    own_cluster.kubectl("apply", "--server-side", "--force-conflicts", "-k", str(repository / "deploy"))
    others = ("--server-side", "--force-conflicts", "--field-manager=others")
    own_cluster.kubectl("apply", *others, "-f", "-", input=upstream.CRD)
    less = json.dumps([{"op": "remove", "path": "/rules/0"}])
    own_cluster.kubectl("patch", "clusterrole", "fcontroller", "--type=json", "-p", less)
    assert "conflict" in own_cluster.kubectl("apply", "--server-side", "-k", str(repository / what), check=False).stderr
    (command,) = [line for line in section(repository, "Runbooks") if f"-k {what} " in line]
    type_in(own_cluster, command, repository)
    assert own_cluster.kubectl("diff", "--server-side", "-k", str(repository / what)).stdout == ""
