"""Work on several cores: items out to processes, results back in the order of the items.

Why not `multiprocessing.Pool`: it waits for ever for a process that was killed (as the kernel does when memory runs out), its processes
complain when the main one goes, it reads all items at once, and it is slower to start.

Each process gets every n-th batch and has at most two at a time: it works on one while the next waits, and nothing else is kept.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from fcompile.errors import ProcessError

if TYPE_CHECKING:
    if sys.platform == "win32":
        from multiprocessing.connection import PipeConnection as Connection
    else:
        from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 2


class _Worker(NamedTuple):
    process: BaseProcess
    connection: Connection


class Done(NamedTuple):
    """The results of a batch that needs no work."""

    results: list[Any]


class _Failure(NamedTuple):
    """An exception in a worker, which is a bug."""

    traceback: str


def in_processes(work: Callable[[Item], Result], batches: Iterable[list[Item] | Done], processes: int) -> Iterator[list[Result]]:
    """Yield the results of each batch, in the order of the batches. `work` and all items and results must be picklable.

    A batch must be short (some kilobytes when pickled). Raises ProcessError when a process is killed.
    """
    workers = _start(work, processes)
    try:
        waiting: deque[_Worker | Done] = deque()
        turns = cycle(workers)
        for batch in batches:
            if len(waiting) == len(workers) * _AHEAD:
                yield _received(waiting.popleft())
            if isinstance(batch, Done):
                waiting.append(batch)
                continue
            worker = next(turns)
            _send(worker, batch)
            waiting.append(worker)
        while waiting:
            yield _received(waiting.popleft())
    finally:
        for worker in workers:
            worker.process.kill()
        for worker in workers:
            worker.process.join()
            worker.connection.close()


def _start(work: Callable[[Any], Any], processes: int) -> list[_Worker]:
    import multiprocessing
    import signal

    # Forking keeps imported modules, and is safe here: no thread was started. Without fork the platform's default is used.
    forks = sys.platform == "linux"
    if sys.platform == "linux":
        context = multiprocessing.get_context("fork")
    else:
        context = multiprocessing.get_context()
    workers: list[_Worker] = []
    # An interrupt is for the main process, which stops the workers. It is held back until all of them are started.
    if sys.platform != "win32":
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        for _ in range(processes):
            ours, theirs = context.Pipe()
            inherited = [ours, *(worker.connection for worker in workers)] if forks else []
            process = context.Process(target=_serve, args=(work, theirs, inherited), daemon=True)
            process.start()
            theirs.close()
            workers.append(_Worker(process, ours))
    finally:
        if sys.platform != "win32":
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return workers


def _serve(work: Callable[[Any], Any], connection: Connection, inherited: list[Connection]) -> None:
    """Run a worker. It ends silently when the main process is gone."""
    for other in inherited:  # a pipe only counts as closed once no process holds its other end
        other.close()
    try:
        while True:
            batch = connection.recv()
            connection.send(_worked(work, batch))
    except (EOFError, OSError):
        return


def _worked(work: Callable[[Any], Any], batch: list[Any]) -> list[Any] | _Failure:
    try:
        return [work(item) for item in batch]
    except Exception:
        import traceback

        return _Failure(traceback.format_exc())


def _send(worker: _Worker, batch: list[Any]) -> None:
    try:
        worker.connection.send(batch)
    except OSError:
        raise _gone(worker) from None


def _received(worker: _Worker | Done) -> list[Any]:
    if isinstance(worker, Done):
        return worker.results
    try:
        results: list[Any] | _Failure = worker.connection.recv()
    except (EOFError, OSError):
        raise _gone(worker) from None
    if isinstance(results, _Failure):
        raise RuntimeError(f"in another process:\n{results.traceback}")
    return results


def _gone(worker: _Worker) -> ProcessError:
    worker.process.join(1)
    code = worker.process.exitcode
    how = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
    return ProcessError(f"a process that checked files was ended {how}")
