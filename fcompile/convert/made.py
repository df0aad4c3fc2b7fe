"""What every conversion of a job ends with."""

from __future__ import annotations

from dataclasses import dataclass

from fcompile.convert.draft import Draft
from fcompile.convert.ledger import Ledger
from fcompile.convert.names import Hosts


@dataclass(frozen=True)
class Made:
    """What came of a job."""

    draft: Draft
    ledger: Ledger
    hosts: Hosts
    """The names of all Pods."""
