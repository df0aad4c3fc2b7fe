"""Health and actions of Frameworks in a Lua interpreter with no more than Argo CD offers, over lives that the controller's code led."""

from __future__ import annotations

import copy
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fcompile.commands.argocd.bundle import ACTION_NAMES, health, script
from fcompile.emit import yaml
from fcompile.model.names import RESTART_ANNOTATION
from fcontroller.decide.states import STATES
from fcontroller.decide.status_json import to_json
from tests.argocd.lives import ACTS, DISABLED, LOOKS, SOME_TIME, Act, Life, lives, outcome
from tests.argocd.lua import ScriptError, act, run
from tests.argocd.tools import tool
from tests.decide.world import from_json

LIVES = {life.name: life for life in lives()}
CONFIG_MAP = Path(__file__).resolve().parents[2] / "plugins" / "argocd" / "argocd-cm.yaml"


@pytest.mark.parametrize("life", LIVES.values(), ids=LIVES)
def test_health(life: Life) -> None:
    assert run(script("health.lua"), life.framework) == {"status": life.health, "message": life.message}


def test_a_sync_need_not_wait_for_what_is_not_to_run() -> None:
    """`--at-rest Healthy` changes that, and nothing else: who pauses wants to be seen."""
    changed = {}
    for name, life in LIVES.items():
        before, after = run(health(), life.framework), run(health("Healthy"), life.framework)
        assert after["message"] == before["message"]
        if before != after:
            changed[name] = (before["status"], after["status"], life.framework["spec"].get("executionType"))
    assert {found[:2] for found in changed.values()} == {("Suspended", "Healthy")}
    assert {found[2] for found in changed.values()} == {"Create", "Stop"}
    suspended = {name for name, life in LIVES.items() if life.health == "Suspended"} - changed.keys()
    assert suspended
    assert all("paused" in name for name in suspended)


def test_every_state_is_there() -> None:
    assert {life.framework["status"]["state"] for life in LIVES.values() if "status" in life.framework} == set(STATES)


@pytest.mark.parametrize("state", [*STATES, "SomethingNew"])
@pytest.mark.parametrize("status", [{}, {"attemptStatus": {}}, {"attemptStatus": {"completionStatus": {"code": 1}}}, {"conditions": []}])
def test_no_status_makes_it_fail(state: str, status: dict[str, Any]) -> None:
    """A script that fails leaves the whole application without health."""
    specs: list[dict[str, Any]] = [{}, {"executionType": "Stop"}, {"taskRoles": []}, {"taskRoles": [{"name": "a"}]}]
    for spec in specs:
        health = run(script("health.lua"), {"metadata": {}, "spec": spec, "status": {**status, "state": state}})
        assert health["status"] in ("Healthy", "Progressing", "Degraded", "Suspended", "Unknown")
        assert health["message"]
    for broken in ({}, {"status": None}, {"spec": None}):
        assert run(script("health.lua"), broken)["status"] == "Progressing"


@pytest.mark.parametrize("life", DISABLED)
def test_which_actions_there_are(life: str) -> None:
    found = run(script("actions/discovery.lua"), LIVES[life].framework)
    assert {name: action["iconClass"] for name, action in found.items()} == LOOKS
    assert {name for name, action in found.items() if action["disabled"]} == DISABLED[life]
    assert found["scale"]["params"] == [{"name": "worker"}]


@pytest.mark.parametrize("asked", ACTS, ids=lambda one: f"{one.action}-{one.life}-{one.parameters}")
def test_actions(asked: Act) -> None:
    framework = LIVES[asked.life].framework
    lua = script(f"actions/{asked.action}/action.lua")
    if asked.error:
        with pytest.raises(ScriptError) as caught:
            act(lua, framework, asked.parameters)
        assert str(caught.value) == asked.error
    else:
        before = copy.deepcopy(framework)
        made = act(lua, framework, asked.parameters)
        if asked.action == "restart":
            when = datetime.fromisoformat(made["metadata"]["annotations"][RESTART_ANNOTATION])
            assert abs((datetime.now(UTC) - when).total_seconds()) < 60
            made["metadata"]["annotations"][RESTART_ANNOTATION] = SOME_TIME
        assert made == outcome(asked, framework)
        assert framework == before


def test_the_interpreter_offers_no_more_than_argo_cd() -> None:
    for wanted in ("string.rep('a', 2)", "('a'):rep(2)", "math.floor(1)", "io.open('a')", "os.execute('a')", "require('io')", "python"):
        with pytest.raises(ScriptError):
            run(f"return {{ {wanted} .. '' }}", {})
    with pytest.raises(ScriptError, match="longer"):
        run("while true do end", {})


class TestByArgoCd:
    """The same by Argo CD's own code, which needs no server for that."""

    def ask(self, command: str, path: Path, framework: Any, *arguments: str) -> str:
        path.write_text(yaml.dump(framework))
        wanted = [tool("argocd"), "admin", "settings", "resource-overrides", command, str(path), *arguments]
        done = subprocess.run([*wanted, "--argocd-cm-path", str(CONFIG_MAP)], capture_output=True, text=True, check=False, timeout=60)
        # Its log goes to stderr, with the errors.
        return done.stdout or done.stderr

    @pytest.mark.parametrize("life", LIVES.values(), ids=LIVES)
    def test_health(self, life: Life, tmp_path: Path) -> None:
        said = self.ask("health", tmp_path / "a.yaml", life.framework)
        assert said == f"STATUS: {life.health}\nMESSAGE: {life.message}\n"

    @pytest.mark.parametrize("life", DISABLED)
    def test_which_actions_there_are(self, life: str, tmp_path: Path) -> None:
        said = self.ask("list-actions", tmp_path / "a.yaml", LIVES[life].framework).split()
        assert said == [
            "NAME",
            "DISABLED",
            *(word for name in sorted(ACTION_NAMES) for word in (name, str(name in DISABLED[life]).lower())),
        ]

    @pytest.mark.parametrize("asked", ACTS, ids=lambda one: f"{one.action}-{one.life}-{one.parameters}")
    def test_actions(self, asked: Act, tmp_path: Path) -> None:
        parameters = [word for name, value in asked.parameters.items() for word in ("--param", f"{name}={value}")]
        said = self.ask("run-action", tmp_path / "a.yaml", LIVES[asked.life].framework, asked.action, *parameters)
        if asked.error:
            assert asked.error in said
        else:
            assert "fields have been changed" in said
            ((field, value),) = {**asked.spec, **asked.annotations}.items()
            end = {None: ": ", "true": ': "true"', SOME_TIME: ": "}.get(value, f": {value}")
            assert any(line.startswith("<>"[value is not None]) and f"{field}{end}" in line for line in said.splitlines())


@pytest.mark.parametrize(
    "life", [life for life in LIVES.values() if "taskCounts" in life.framework.get("status", {})], ids=lambda life: life.name
)
def test_the_controller_reads_a_status_that_has_been_through_lua(life: Life) -> None:
    """Argo CD patches the status with what an action gives back, and Lua has no nulls."""
    status = life.framework["status"]
    assert to_json(from_json(act("return obj", life.framework)["status"])) == status
