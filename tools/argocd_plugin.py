"""Write plugins/argocd: what `fcompile argocd bundle` prints, and the tests of its Lua over lives of the controller's own code.

`--check`: write nothing, exit with 1 if a file is not what it would be.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # this checkout, whatever is installed

from fcompile.commands.argocd import bundle  # noqa: E402
from fcompile.emit import yaml  # noqa: E402
from tests.argocd.lives import ACTS, DISABLED, LOOKS, Act, lives, outcome  # noqa: E402

PLUGIN = ROOT / "plugins" / "argocd"
WRITTEN_BY_HAND = {"Dockerfile", "README.md"}
LIVES = {life.name: life for life in lives()}


def main() -> int:
    """Write or check; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the files are current")
    check = parser.parse_args().check
    texts = {**dict(bundle.files()), **{f"{bundle.LAYOUT}/{name}": text for name, text in test_data()}}
    stale = list(_brought_up_to_date(texts, check))
    for path in stale:
        print(f"{path.relative_to(ROOT)}{' is out of date' if check else ''}")
    return int(check and bool(stale))


def _brought_up_to_date(texts: dict[str, str], check: bool) -> Iterator[Path]:
    """The files of the plugin's folder that were not what they should be."""
    there = {path for path in PLUGIN.rglob("*") if path.is_file() and path.name not in WRITTEN_BY_HAND}
    for path in sorted(there - {PLUGIN / name for name in texts}):
        yield path
        if not check:
            path.unlink()
    for name, text in texts.items():
        path = PLUGIN / name
        if not path.exists() or path.read_text("utf-8") != text:
            yield path
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")


def test_data() -> Iterator[tuple[str, str]]:
    """The tests that Argo CD's repository wants beside the Lua, with their data."""
    tests = [{"inputPath": _path(life.name), "healthStatus": {"status": life.health, "message": life.message}} for life in LIVES.values()]
    yield "health_test.yaml", yaml.dump({"tests": tests})
    for life in LIVES.values():
        yield _path(life.name), yaml.dump(life.framework)
    used = dict.fromkeys([*DISABLED, *(act.life for act in ACTS)])
    for name in used:
        yield f"actions/{_path(name)}", yaml.dump(LIVES[name].framework)
    yield (
        "actions/action_test.yaml",
        yaml.dump({"discoveryTests": list(map(_discovery, DISABLED)), "actionTests": list(map(_action, ACTS))}),
    )
    for number, act in enumerate(ACTS):
        if not act.error:
            yield f"actions/{_outcome_path(number, act)}", yaml.dump(outcome(act, LIVES[act.life].framework))


def _discovery(life: str) -> dict[str, Any]:
    def action(name: str) -> dict[str, Any]:
        seen = {"name": name, "disabled": name in DISABLED[life], "iconClass": LOOKS[name], "displayName": ""}
        return {**seen, "params": [{"name": "worker"}]} if name == "scale" else seen

    return {"inputPath": _path(life), "result": list(map(action, LOOKS))}


def _action(act: Act) -> dict[str, Any]:
    test: dict[str, Any] = {"action": act.action, "inputPath": _path(act.life)}
    if act.parameters:
        test["parameters"] = act.parameters
    return {**test, "expectedErrorMessage": act.error} if act.error else {**test, "expectedOutputPath": _outcome_path(ACTS.index(act), act)}


def _path(life: str) -> str:
    return f"testdata/{life}.yaml"


def _outcome_path(number: int, act: Act) -> str:
    return _path(f"{number}-{act.life}-{act.action}")


if __name__ == "__main__":
    sys.exit(main())
