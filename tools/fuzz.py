"""Look for inputs that break what must hold for every input (`tests/laws.py`), for as long as it is told to.

    python tools/fuzz.py --minutes 10

With atheris (`pip install atheris`), what a mutation reaches in the code guides the next one; without it, or with --blind, mutations are
made at random from the examples. Each kind of failure is kept once, in the folder --failures; the exit code is 1 when there is one.
A failure that is mended belongs into `tests/test_fuzz.py`, as an example of its own.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"), metavar="FOLDER")
    parser.add_argument("--blind", action="store_true", help="do not use atheris")
    arguments = parser.parse_args()
    guide = None if arguments.blind else _atheris()
    failures = _Failures(arguments.failures)
    if guide is not None:
        return guide(arguments, failures)
    end = time.monotonic() + 60 * arguments.minutes
    from tests import laws, mutations

    random, seeds, tried = Random(arguments.seed), mutations.Seeds(ROOT / "examples"), 0
    while time.monotonic() < end:
        tried += 1
        failures.tried(seeds.mutated(random), laws.hold)
    print(f"{tried:,} inputs tried, {len(failures.kinds)} kinds of failures")
    return 1 if failures.kinds else 0


class _Failures:
    """Failures by the place in the code that they come from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kinds: set[str] = set()

    def tried(self, data: bytes, hold: Callable[[bytes], None]) -> None:
        try:
            hold(data)
        except Exception as error:
            kind = _kind(error)
            if kind in self.kinds:
                return
            self.kinds.add(kind)
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / f"{len(self.kinds):03}"
            path.write_bytes(data)
            print(f"{path}: {kind}: {str(error)[-1000:]}", flush=True)


def _kind(error: Exception) -> str:
    inner = [line.strip() for line in str(error).splitlines() if line.strip().startswith("File ")]
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    return inner[-1] if inner else " ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)


def _atheris() -> Callable[[argparse.Namespace, _Failures], int] | None:
    try:
        import atheris  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        print("atheris is not installed: mutating blindly", file=sys.stderr)
        return None
    # Modules count what they reach only if they are imported here.
    with atheris.instrument_imports(include=["fcompile"]):
        from tests import laws, mutations

    def run(arguments: argparse.Namespace, failures: _Failures) -> int:
        seeds = mutations.Seeds(ROOT / "examples")

        def mutate(data: bytes, limit: int, seed: int) -> bytes:
            random = Random(seed)
            kind = random.random()
            if kind < 0.2:
                return bytes(atheris.Mutate(data, limit))[:limit]
            changed = mutations.spoiled(random, data) if kind < 0.6 else seeds.changed(random, data)
            return changed[:limit]

        corpus = arguments.failures / "corpus"
        corpus.mkdir(parents=True, exist_ok=True)
        for number, text in enumerate(seeds.texts):
            (corpus / f"example-{number:03}").write_bytes(text)
        options = [
            f"-max_total_time={int(arguments.minutes * 60)}",
            "-max_len=20000",
            f"-seed={arguments.seed + 1}",
            "-timeout=60",
            "-verbosity=0",
        ]
        # libFuzzer ends the process itself, without the exit code that would tell of our failures: they are printed as they come.
        atheris.Setup([sys.argv[0], *options, str(corpus)], lambda data: failures.tried(data, laws.hold), custom_mutator=mutate)
        atheris.Fuzz()
        return 1 if failures.kinds else 0

    return run


if __name__ == "__main__":
    sys.exit(main())
