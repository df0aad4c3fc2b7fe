"""Names of Frameworks, and the rewriting of DNS names in the user's texts."""

from __future__ import annotations

import pytest

from fcompile.convert.ledger import Refusal
from fcompile.convert.names import Hosts, Task, framework_name


@pytest.mark.parametrize(("job", "name"), [("pt-ddp", "ptddp"), ("elastic.net-2", "elasticnet2"), ("a", "a"), ("0-1", "01")])
def test_the_rule(job: str, name: str) -> None:
    assert framework_name(job, ()) == name


@pytest.mark.parametrize("job", ["---", "ü", "x" * 64, "Jax_Train", "jax-", "A", "a..b", "${NAME}-x", "{{ .Release.Name }}-train"])
def test_what_gives_no_name_is_refused(job: str) -> None:
    with pytest.raises(Refusal):
        framework_name(job, ("metadata", "name"))


def worker(index: int) -> Task | None:
    return Task("worker", index) if index < 3 else None


HOSTS = Hosts("ptddp", "lab", {"pt-ddp-worker-": worker}, single={"pt-ddp-launcher": Task("launcher", 0)}, subdomain="pt-ddp")
NEW = "worker-1.ptddp-worker"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("pt-ddp-worker-1", NEW),
        ("--master=pt-ddp-worker-1:2222,pt-ddp-worker-1", f"--master={NEW}:2222,{NEW}"),
        ("http://pt-ddp-worker-1/x", f"http://{NEW}/x"),
        ("pt-ddp-worker-1.lab.svc.cluster.local:80", f"{NEW}.lab.svc.cluster.local:80"),
        ("pt-ddp-worker-1.pt-ddp.lab.svc", f"{NEW}.lab.svc"),
        ("wait for pt-ddp-worker-1.", f"wait for {NEW}."),
        ("user@pt-ddp-launcher", "user@launcher-0.ptddp-launcher"),
    ],
)
def test_whole_names_are_rewritten(text: str, made: str) -> None:
    assert HOSTS.rewrite(text) == made


@pytest.mark.parametrize(
    "text",
    [
        "pt-ddp",
        "s3://bucket/pt-ddp/run",
        "/logs/pt-ddp-worker-1/out",
        "s3://b/pt-ddp-worker-1/",
        "s3://pt-ddp-worker-1/out",
        "pt-ddp-worker-1/out",
        "pt-ddp-worker-1.log",
        "pt-ddp-worker-1.other.svc",
        "pt-ddp-worker-3",
        "my-pt-ddp-worker-1",
        "pt-ddp-worker-1-data",
        "pt-ddp-worker-",
        "pt-ddp-launcher-x",
    ],
)
def test_nothing_else_is(text: str) -> None:
    assert HOSTS.rewrite(text) == text


@pytest.mark.parametrize(("text", "told"), [("pt-ddp-worker-$i", True), ('"pt-ddp-worker-" + str(i)', True), ("pt-ddp-worker-1", False)])
def test_names_that_are_put_together_later_are_told(text: str, told: bool) -> None:
    assert HOSTS.has_unfinished_name(text) == told


def test_a_name_has_as_many_labels_as_dns_takes() -> None:
    """What an expression remembers of each label comes to a hundred times the text."""
    hosts = Hosts("pt", None, {"pt-worker-": lambda index: Task("worker", index)})
    assert hosts._whole.match("pt-worker-0" + ".a" * 127 + ".b")
    long = hosts._whole.match("pt-worker-0" + ".a" * 100_000)
    assert long is not None
    assert long.end() < 300
    assert hosts.rewrite("pt-worker-0.a.svc" + ".b" * 1_000) == "worker-0.pt-worker.a.svc" + ".b" * 1_000
