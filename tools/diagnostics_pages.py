"""Write `docs/diagnostics.md`, which lists every rule, and below it a page for each family: every rule with its bad example from
`examples/bad/` and what `fcompile validate` says to it.

An example is found by its rule's code, which its name begins with. `--check`: write nothing, exit with 1 if a page is not what it would
be, or is none of these.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # this checkout, whatever is installed

from fcompile.cli import main as fcompile_main  # noqa: E402
from fcompile.diagnostics.catalog import all_rules  # noqa: E402
from fcompile.diagnostics.problem import Rule  # noqa: E402
from fcompile.diagnostics.visible import visible  # noqa: E402

DOCS = ROOT / "docs"
INDEX = "diagnostics.md"
FOLDER = "diagnostics"
EXAMPLES = Path("examples", "bad")
MOST_LINES = 60
"""Of an example or an output: some examples are long because length is what is wrong with them."""
LONGEST_LINE = 160
FAMILIES = {
    "0": "Reading files, YAML and JSON",
    "1": "Structure: fields, types, formats, Kubernetes versions",
    "2": "Pods: what the API server asks of several fields together",
    "3": "Policies",
    "4": "Names, reserved words and placeholders",
    "5": "Services, and several Frameworks in one run",
    "6": "Sizes",
    "9": "Waivers",
}
PAGES = {
    "reading": ("FC001", "Reading files, YAML and JSON"),
    "structure": ("FC101", "Structure: fields, types, formats, Kubernetes versions"),
    "containers": ("FC200", "Pods: containers, ports, probes and environment"),
    "volumes": ("FC230", "Pods: volumes, mounts and devices"),
    "resources": ("FC254", "Pods: resources"),
    "security": ("FC265", "Pods: security"),
    "scheduling": ("FC273", "Pods: scheduling"),
    "network-and-metadata": ("FC285", "Pods: network, metadata and accounts"),
    "policies": ("FC301", "Policies"),
    "names": ("FC401", "Names, reserved words and placeholders"),
    "services": ("FC501", "Services, and several Frameworks in one run"),
    "sizes": ("FC601", "Sizes"),
    "waivers": ("FC901", "Waivers"),
}
"""Of each page the first code, from which it goes on to the first one of the next page, and its title."""
_VERSION = re.compile(rb"(?<=with )--kubernetes-version 1\.\d+")
"""What an example says that it is checked with."""
_OF_FILE = re.compile(r" *\d* \|")
_WRITTEN = "<!-- Written by tools/diagnostics_pages.py from the rules in the code and the files in examples/bad: change those. -->"
INTRODUCTION = f"""\
# Diagnostics

{_WRITTEN}

Every problem that `fcompile` reports has a code, and a code never changes its meaning. `fcompile rule FC101` prints the same
explanation. An **error** will be refused, or will not run as written. A **warning** runs, but hardly as anybody
means it: `--strict` makes the exit code 1 for warnings too. A **note** is good to know.

## Waivers

What is meant as it is can be waived, with a reason. A comment at the end of a field's line, or on a line of its own above it, waives the
problems of that field. With a field path after the code, it waives those of every such field of the document; `*` stands for any text:

```yaml
spec:
  # fcompile: waive FC307 spec.taskRoles[*].task.pod.spec: every role serves until it is stopped by hand
  taskRoles:
  - name: server
    task:
      pod:
        # fcompile: waive FC307: it serves until it is stopped by hand
        spec:
          containers:
          - {{name: server, image: registry.example.com/server:1.2}}
```

For files that should not be touched, and for what `build` prints, which has no comments, the same goes into `.fcompile-waivers.yaml` in the
folder where `fcompile` is run, or into the file that `--waivers` names. `code` and `reason` are required. `path` works as in `.gitignore`;
`*` in the others stands for any text:

```yaml
- code: FC307
  path: serving/**
  framework: team-a/*
  field: spec.taskRoles[*].task.pod.spec
  reason: these serve until they are stopped by hand
```

A waiver that covers nothing is reported, so that none outlives its reason. Errors of reading a file (FC0xx) cannot be waived, nor can
wrong types and missing fields (FC111, FC112, FC114, FC121): from such a Framework nothing can be built.
"""


def main() -> int:
    """Write or check the page; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page is out of date")
    arguments = parser.parse_args()
    wanted = pages(all_rules())
    if not arguments.check:
        for path, text in wanted.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
    for path in sorted({DOCS / INDEX, *(DOCS / FOLDER).iterdir()} - set(wanted)):
        print(f"{path.relative_to(ROOT)} is no page of these: remove it", file=sys.stderr)
        return 1
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)} is out of date", file=sys.stderr)
    return 1 if stale else 0


def pages(rules: tuple[Rule, ...]) -> dict[Path, str]:
    """Return the text of every page."""
    written = {DOCS / INDEX: "".join([INTRODUCTION, *_overview(rules)])}
    for name, (_, title) in PAGES.items():
        members = [line for rule in rules if page_of(rule) == name for line in _section(rule)]
        written[DOCS / FOLDER / f"{name}.md"] = f"# {title}\n\n{_WRITTEN}\n\n[All diagnostics](../{INDEX})\n" + "".join(members)
    return written


def page_of(rule: Rule) -> str:
    """Return the page that a rule is on."""
    return [name for name, (first, _) in PAGES.items() if first <= rule.code][-1]


def anchor(rule: Rule) -> str:
    """Return the anchor of a rule's heading."""
    return f"{rule.code}-{rule.name}".lower()


def _overview(rules: tuple[Rule, ...]) -> Iterator[str]:
    for digit, family in FAMILIES.items():
        members = [rule for rule in rules if rule.code[2] == digit]
        if members:
            yield f"\n## {family}\n\n| code | name | severity | |\n| --- | --- | --- | --- |\n"
            for rule in members:
                # All rules were on this page once: links to them lead to their line.
                link = f'<a id="{anchor(rule)}"></a>[{rule.code}]({FOLDER}/{page_of(rule)}.md#{anchor(rule)})'
                yield f"| {link} | {rule.name} | {rule.severity.value} | {rule.summary.replace('|', '&#124;')} |\n"


def _section(rule: Rule) -> Iterator[str]:
    yield f"\n## {rule.code} {rule.name}\n\n{rule.severity.value.capitalize()}. {rule.summary}\n"
    yield f"\n{rule.why} {rule.remedy}\n"
    for example in sorted((ROOT / EXAMPLES).glob(f"{rule.code}-*")):
        name = (EXAMPLES / example.name).as_posix()
        yield f"\n[{example.name}](../../{name}):\n\n"
        yield _fenced(example.read_bytes().decode("utf-8", "backslashreplace"), example.suffix[1:])
        version = _VERSION.search(example.read_bytes().partition(b"\n")[0])
        options = version[0].decode().split() if version else []
        yield f"\n`{' '.join(['fcompile validate', *options, name])}`:\n\n"
        printed = validate(*options, name)
        if rule.code not in printed:
            raise RuntimeError(f"{name} does not show {rule.code}: {printed}")
        yield _fenced(printed, "text")


def validate(*arguments: str) -> str:
    """Return what `fcompile validate` prints about a file, the last of its arguments."""
    printed, name = io.StringIO(), arguments[-1]
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(printed):
        code = fcompile_main(["validate", "--color", "never", *arguments])
    if code not in (0, 1):
        raise RuntimeError(f"fcompile validate {name} ended with exit code {code}")
    return printed.getvalue()


def _fenced(text: str, language: str) -> str:
    lines = text.removesuffix("\n").split("\n")
    shown = [_shown(visible(line.replace("\t", "        ")), language) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"... ({len(lines) - MOST_LINES} more lines)")
    body = "\n".join(shown)
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`{3,}", body))])
    return f"{fence}{language}\n{body}\n{fence}\n"


def _shown(line: str, language: str) -> str:
    """Shorten a line of a file. What is said of it is shown whole."""
    whole = len(line) <= LONGEST_LINE or (language == "text" and not _OF_FILE.match(line))
    return line if whole else line[: LONGEST_LINE - 3] + "..."


if __name__ == "__main__":
    sys.exit(main())
