"""What a small input may cost: counted, not timed."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.convert.names import Hosts, Task
from fcompile.diagnostics.problem import Path, Span
from fcompile.load import Document
from tests.convert.operator import DATA, convert

JOB = (DATA / "jobs" / "jax.yaml").read_text("utf-8")


class Counted(str):
    """A text that counts the characters that are copied out of it."""

    copied = 0

    def __getitem__(self, key: Any) -> str:
        found = super().__getitem__(key)
        Counted.copied += len(found)
        return found


def test_each_name_in_a_text_is_rewritten_without_a_copy_of_the_text() -> None:
    hosts = Hosts("pt", None, {"pt-worker-": lambda index: Task("worker", index)})
    text = Counted("pt-worker-0 " * 1_000)
    assert hosts.rewrite(text) == "worker-0.pt-worker " * 1_000
    assert Counted.copied < 10 * len(text)


def test_of_many_jobs_of_one_name_three_are_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Path] = []
    locate = Document.locate

    def counted(self: Document, path: Path) -> Span:
        calls.append(path)
        return locate(self, path)

    monkeypatch.setattr(Document, "locate", counted)
    refused = convert("---\n".join([JOB] * 30)).refused
    assert len(refused) == 30
    assert "as that of job.yaml:1, job.yaml:" in refused[-1].reasons[0].text
    assert len(calls) <= 3 * 30
