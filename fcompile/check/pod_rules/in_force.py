"""Which findings of the structure check do not hold for a Pod, because the API server of that version does not look there."""

from __future__ import annotations

from collections.abc import Iterable

from fcompile.check.pod_rules.dropped import DROPPED
from fcompile.diagnostics.problem import Finding, Path, Severity

# What cannot be read as the type of its field is refused wherever it is.
_UNREADABLE = frozenset(("FC101", "FC102", "FC111", "FC112", "FC113"))
# The first version that looks at the label selectors of topology spread constraints.
_SPREAD_SELECTORS = 27
# Every quantity is read, whatever becomes of it.
_QUANTITIES = (("limits",), ("requests",))


def in_force(findings: Iterable[Finding], version: int) -> list[Finding]:
    """All findings but the structure check's errors in values that are not looked at.

    Those are the contents of fields that the API server takes out (there is a finding that says so), and the label selectors of topology
    spread constraints in versions that do not look at them yet.
    """
    found = list(findings)
    dropped = {_taken_out(finding.path) for finding in found if finding.rule is DROPPED}
    if not dropped and version >= _SPREAD_SELECTORS:
        return found
    return [finding for finding in found if not (_is_of_values(finding) and _unseen(finding.path, dropped, version))]


def _taken_out(path: Path) -> Path:
    """What goes with a field that is dropped: an image volume leaves nothing behind."""
    return path[:-1] if path[-1] == "image" and path[-3:-2] == ("volumes",) else path


def _is_of_values(finding: Finding) -> bool:
    code = finding.rule.code
    return finding.rule.severity is Severity.ERROR and code.startswith("FC1") and code not in _UNREADABLE


def _unseen(path: Path, dropped: set[Path], version: int) -> bool:
    if path[-2:-1] not in _QUANTITIES and any(path[:length] in dropped for length in range(1, len(path) + 1)):
        return True
    return version < _SPREAD_SELECTORS and "topologySpreadConstraints" in path and "labelSelector" in path
