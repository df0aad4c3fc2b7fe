"""Variables of a shell where no shell reads them."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.check.rules.framework.shell_variables import shell_variable_rules
from tests.check.frameworks import context_of, framework, role


def messages(**fields: Any) -> list[str]:
    """Return what is told of a container with these fields."""
    value = framework(role(spec={"containers": [{"name": "main", "image": "a", **fields}]}))
    return [finding.message for finding in shell_variable_rules(context_of(value))]


@pytest.mark.parametrize("written", ["$FC_TASK_INDEX", "${FC_TASK_INDEX}", "/out/$FC_TASK_INDEX/x", "$FC_TASK_INDEX.log"])
def test_told(written: str) -> None:
    for fields in (
        {"env": [{"name": "RANK", "value": written}]},
        {"command": ["python", "train.py", f"--rank={written}"]},
        {"command": ["python"], "args": ["train.py", written]},
        {"volumeMounts": [{"name": "a", "mountPath": "/a", "subPath": written}]},
        {"volumeMounts": [{"name": "a", "mountPath": "/a", "subPathExpr": written}]},
    ):
        (message,) = messages(**fields)
        assert message.endswith("stays as it is, since no shell reads it: write {{FC_TASK_INDEX}}")


def test_what_to_write_instead() -> None:
    assert messages(env=[{"name": "A", "value": "$FC_POD_UID"}]) == [
        "`$FC_POD_UID` stays as it is, since no shell reads it: write $(FC_POD_UID)"
    ]
    assert messages(volumeMounts=[{"name": "a", "mountPath": "/a", "subPath": "$(FC_POD_UID)"}]) == [
        "`$(FC_POD_UID)` stays as it is, since Kubernetes does not replace it here: write $(FC_POD_UID) in `subPathExpr`"
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"command": ["sh", "-c", "echo $FC_TASK_INDEX"]},
        {"command": ["/bin/bash", "run", "$FC_TASK_INDEX"]},
        {"command": ["/run.sh", "$FC_TASK_INDEX"]},
        {"command": ["tini", "--", "bash", "-lc"], "args": ["$FC_TASK_INDEX"]},
        {"command": ["python", "-c", "$FC_TASK_INDEX"]},
        {"args": ["--rank=$FC_TASK_INDEX"]},
        {"command": ["python", "$(FC_TASK_INDEX)"], "env": [{"name": "A", "value": "$(FC_TASK_INDEX)"}]},
        {"command": ["python", "$$FC_TASK_INDEX"]},
        {"env": [{"name": "SCRIPT", "value": "echo $FC_TASK_INDEX"}]},
        {"env": [{"name": "A", "value": "$HOME"}, None, {"name": "B", "value": 1}]},
        {"volumeMounts": [{"name": "a", "mountPath": "/a", "subPathExpr": "$(FC_TASK_INDEX)"}]},
    ],
)
def test_fine(fields: dict[str, Any]) -> None:
    assert messages(**fields) == []


SERVES = {"name": "LR", "value": "0.1"}


@pytest.mark.parametrize("written", ["$LR", "${LR}"])
def test_variables_of_the_container(written: str) -> None:
    said = [f"`{written}` stays as it is, since no shell reads it: write $(LR)"]
    assert messages(command=["python", f"--lr={written}"], env=[SERVES]) == said
    assert messages(command=["python"], args=["--lr", written], env=[SERVES]) == said
    assert messages(command=["sh", "-c", f"python --lr={written}"], env=[SERVES]) == []
    assert messages(command=["python", f"--lr={written}"]) == []  # The program's own text, for all that is known.
    assert messages(args=[f"--lr={written}"], env=[SERVES]) == []
    assert messages(env=[SERVES, {"name": "B", "value": written}]) == []  # Many programs replace such words in their settings.


@pytest.mark.parametrize("written", ["$PATH", "${PATH}", "$(PATH)"])
def test_a_variable_within_itself(written: str) -> None:
    said = f"`{written}` is not what the image has in `PATH`, and stays as it is: write that value out, or set the variable in a shell"
    assert messages(env=[{"name": "PATH", "value": f"/opt/bin:{written}"}]) == [said]
    assert messages(env=[{"name": "PATH", "value": f"/opt/bin:{written}"}, {"name": "PATH", "value": "/bin"}]) == [said]
    assert messages(env=[{"name": "PATH", "value": f"/opt/bin:${written}"}]) == []
    assert messages(env=[{"name": "PATHS", "value": f"/opt/bin:{written}"}]) == ([UNDEFINED.format("PATH")] if "(" in written else [])


@pytest.mark.parametrize("written", ["$HF_TOKEN", "${HF_TOKEN}", "$(HF_TOKEN)"])
def test_a_value_that_somebody_was_to_fill_in(written: str) -> None:
    said = f"`{written}` stays as it is: fill it in before, for example with `envsubst`"
    assert messages(env=[{"name": "HF_TOKEN", "value": written}]) == [said]


def test_a_variable_that_is_set_twice_may_name_its_first_value() -> None:
    assert messages(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}]) == []


UNDEFINED = "`$({})` refers to no variable of this container, and stays as it is: define the variable, or write `$$(` for the text itself"
NO_SHELL = "`{}` runs nothing, since no shell reads it: write `sh`, `-c` and the whole line as three items of `command`"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"command": ["torchrun", "--node-rank=$(RANK)"]}, [UNDEFINED.format("RANK")]),
        ({"args": ["--node-rank=$(RANK)", "$(RANK)"]}, [UNDEFINED.format("RANK")] * 2),
        ({"command": ["sh", "-c", "torchrun --node-rank=$(RANK)"]}, [UNDEFINED.format("RANK")]),
        ({"env": [{"name": "URL", "value": "tcp://$(MASTER_ADDR)"}]}, [UNDEFINED.format("MASTER_ADDR")]),
        # A ConfigMap's variables are not known here, and other variables may refer to them.
        ({"command": ["a", "$(RANK)"], "envFrom": [{"configMapRef": {"name": "c"}}]}, []),
        ({"env": [{"name": "A", "value": "$(RANK)"}], "envFrom": [{"configMapRef": {"name": "c"}}]}, []),
        ({"env": [{"name": "RANK", "value": "$(RANK)1"}], "envFrom": [{"configMapRef": {"name": "c"}}]}, []),
        ({"command": ["a", "$(RANK)"], "env": [{"name": "RANK", "value": "1"}]}, []),
        (
            {"env": [{"name": "A", "value": "$(B)"}, {"name": "B", "value": "1"}]},
            ["`$(B)` stays as it is, since Kubernetes only replaces variables that are set before: move `B` up"],
        ),
        (
            {"env": [{"name": "RANK", "value": "1"}, {"name": "A", "value": "$(RNK)"}]},
            [UNDEFINED.format("RNK").replace("define the variable, or write `$$(` for the text itself", "did you mean $(RANK)?")],
        ),
        # Of Services, and of the controller, which has a rule of its own.
        ({"command": ["a", "$(KUBERNETES_SERVICE_HOST)", "$(REDIS_PORT_6379_TCP_ADDR)", "$(FC_TASK)"]}, []),
        ({"command": ["a", "$$(RANK)", "$(RANK", "$()"]}, []),
        ({"command": ["a", "--host=$(hostname)"]}, [NO_SHELL.format("$(hostname)")]),
        ({"command": ["a", "--out=$(date +%s)"]}, [NO_SHELL.format("$(date +%s)")]),
        ({"command": ["a", "--n=$((2*4))"]}, [NO_SHELL.format("$((2*4))")]),
        (
            {"command": ["a"], "env": [{"name": "H", "value": "$(hostname)"}]},
            ["`$(hostname)` runs nothing, since no shell reads it: set the variable in a shell"],
        ),
        ({"command": ["bash", "-c", "a --host=$(hostname) --out=$(date +%s)"]}, []),
        ({"command": ["sh", "-c", "RUN() { true; }; x=$(RUN)"]}, []),
        ({"command": ["sh", "-c", "nvidia-smi | awk '{print $(NF)}'"]}, []),
        ({"args": ["--host=$(hostname)"]}, []),
        ({"env": [{"name": "SCRIPT", "value": "echo $(RANK) $(hostname)"}]}, []),
        ({"env": [{"name": "a.b", "value": "1"}], "command": ["x", "$(a.b)"]}, []),
    ],
)
def test_references(fields: dict[str, Any], said: list[str]) -> None:
    assert messages(**fields) == said


ONE_ARGUMENT = "`{} {}` is one argument, and no program takes it for the option `{}`: write {} as an item of its own"


@pytest.mark.parametrize(
    ("command", "args", "said"),
    [
        (["python", "train.py", "--lr 0.1"], [], [ONE_ARGUMENT.format("--lr", "0.1", "--lr", "`--lr`, `0.1`, each")]),
        (["mpirun"], ["--hosts a  b\n", "python"], [ONE_ARGUMENT.format("--hosts", "a b", "--hosts", "`--hosts`, `a`, `b`, each")]),
        (["python", "--lr 0.1", "--epochs 3"], [], ["--lr", "--epochs"]),
        (["python", "--note 'a b'"], [], [ONE_ARGUMENT.format("--note", "'a b'", "--note", "each word")]),
        (["python", "--lr=0.1 0.2", "-np 8", "-- a", "--a\nb", "--", "x --lr 0.1"], [], []),
        # The value of the option before.
        (["horovodrun", "--mpi-args", "--oversubscribe true"], [], []),
        (["srun", "-W", "--export all"], [], []),
        (["sh", "-c", "python $0", "--lr 0.1"], [], []),
        (["/run.sh", "--lr 0.1"], [], []),
        (["ssh", "worker-0", "--lr 0.1"], [], []),
        (["tini", "--", "bash", "-lc", "a"], ["--lr 0.1"], []),
        ([], ["--lr 0.1"], []),  # The image says what runs, which may be a shell.
    ],
)
def test_an_option_and_its_value_in_one_item(command: list[str], args: list[str], said: list[str]) -> None:
    found = messages(command=command, args=args)
    assert found == said or [message.partition(" ")[0].strip("`") for message in found] == said


def test_an_option_with_a_space_makes_no_shell_of_the_others() -> None:
    said = "`$FC_TASK_INDEX` stays as it is, since no shell reads it: write {{FC_TASK_INDEX}}"
    assert messages(command=["python", "--tags=a b", "--rank=$FC_TASK_INDEX"]) == [said]
    assert messages(command=["sbatch", "--wrap=python train.py --rank=$FC_TASK_INDEX"]) == []
    assert messages(command=["sbatch", "python train.py", "--rank=$FC_TASK_INDEX"]) == []
    assert messages(command=["python", "--tags=a b", "$(hostname)"]) == [NO_SHELL.format("$(hostname)")]
