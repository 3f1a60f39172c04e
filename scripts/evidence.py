"""`docs/evidence.md`: every claim of the README with its command and its latest figure.

What is claimed and what shows it stands in `docs/evidence/*.toml`, written by people; what came out stands in
`docs/evidence/results.json`, written by this script and by nobody else.

    evidence.py              write the page from both
    evidence.py --run        first run every command whose entry says `quick`, and store what came out
    evidence.py --run ID     first run these
    evidence.py --check      fail if the page is not what this would write

A claim of the README is each item of its lists, each sentence of its first paragraph, and each sentence with a number in
it. One without an entry fails `tests/docs/test_evidence.py`, and so does an entry that names no test that there is.
"""

from __future__ import annotations

import argparse
import ast
import datetime as dt
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "evidence"
PAGE = ROOT / "docs" / "evidence.md"
RESULTS = FOLDER / "results.json"
FILES = ("claims", "acceptance", "audits", "operations")


# --- what the README claims ------------------------------------------------------------------


def claims_of(readme: str) -> list[str]:
    """Return the claims of a README: items, the sentences of its first paragraph, and those with numbers."""
    text = re.sub(r"^```.*?^```", "", readme, flags=re.DOTALL | re.MULTILINE)
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text)]
    prose = [block for block in blocks if block and block[0] not in "#|!*"]
    found: list[str] = []
    for number, block in enumerate(prose):
        if block.startswith("- "):
            found += [plain(item) for item in re.split(r"\n- |^- ", block) if item.strip()]
            continue
        for sentence in re.split(r"(?<=[.:;])\s+(?=[A-Z*`])", plain(block)):
            bare = re.sub(r"`[^`]*`", "", sentence)
            if number == 0 or re.search(r"\d", bare):
                found.append(sentence)
    return found


def plain(text: str) -> str:
    """Return a text without links, emphasis and line breaks."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\s+", " ", text.replace("**", "")).strip()


def unproved(readme: str, entries: list[dict[str, Any]]) -> list[str]:
    """Return the claims that no entry quotes."""
    said = [plain(entry["says"]) for entry in entries]
    return [claim for claim in claims_of(readme) if not any(each in claim for each in said)]


def outdated(readme: str, entries: list[dict[str, Any]]) -> list[str]:
    """Return the entries whose words the README no longer has."""
    whole = plain(readme)
    return [entry["says"] for entry in entries if plain(entry["says"]) not in whole]


# --- what shows them -------------------------------------------------------------------------


def missing_tests(names: list[str], root: Path = ROOT) -> list[str]:
    """Return those of the tests (`FILE` or `FILE::FUNCTION`) that do not exist."""
    return [name for name in names if not _exists(name, root)]


def _exists(name: str, root: Path) -> bool:
    file, _, function = name.partition("::")
    path = root / file
    if not path.is_file() or not function:
        return path.is_file()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function
        for node in ast.walk(tree)
    )


def read(name: str) -> list[dict[str, Any]]:
    """Return the entries of one file."""
    entries: list[dict[str, Any]] = tomllib.loads((FOLDER / f"{name}.toml").read_text())["entry"]
    return entries


def stored() -> dict[str, Any]:
    """Return what came out, by command."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


# --- running ---------------------------------------------------------------------------------


def run(command: str) -> dict[str, Any]:
    """Return what a command brought: its tests, what they recorded, how long it took, where and when."""
    words, settings = shlex.split(command), {}
    while "=" in words[0]:  # as a shell reads it: DISCREET_FULL=1 pytest ...
        name, _, settings[name] = words.pop(0).partition("=")
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        junit = Path(folder) / "junit.xml"
        if words[0] == "pytest":
            places = [
                f"--junitxml={junit}",
                "-o",
                "junit_family=xunit1",
                "-q",
                "-p",
                "no:cacheprovider",
                f"--basetemp={folder}/t",
            ]
            words = [sys.executable, "-m", "pytest", *places, *words[1:]]
        elif words[0] == "python":
            words = [sys.executable, *words[1:]]
        done = subprocess.run(
            words, cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, check=False
        )
        found = _junit(junit) if junit.exists() else {}
    if done.returncode:
        sys.exit(f"{command}\nfailed:\n{done.stdout[-3000:]}{done.stderr[-2000:]}")
    return found | {
        "seconds": round(time.monotonic() - start),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "python": platform.python_version(),
    }


def _junit(path: Path) -> dict[str, Any]:
    suite = ElementTree.parse(path).getroot().find("testsuite")  # noqa: S314  # written by pytest just now
    assert suite is not None
    total, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
    figures: dict[str, str] = {}
    for case in suite.iter("testcase"):  # the suite's own are other tools'
        for item in case.iter("property"):
            name, value = item.get("name", ""), item.get("value", "")
            if value.isdigit():  # counts of several tests add up
                value = str(int(value) + int(figures.get(name, "0")))
            figures[name] = value
    return {"tests": total - skipped, "skipped": skipped, "figures": figures}


# --- the page --------------------------------------------------------------------------------


def said(entry: dict[str, Any], results: dict[str, Any]) -> str:
    """Return the figures of an entry in words: what was written down, and what last came out."""
    parts = [entry["figure"]] if "figure" in entry else []
    result = results.get(entry["command"])
    if result is not None:
        parts += [_figure(name, value) for name, value in result.get("figures", {}).items()]
        if "tests" in result:
            left_out = f", {result['skipped']} skipped" if result["skipped"] else ""
            parts.append(f"{result['tests']} tests green{left_out}")
        parts.append(f"{result['date']}, {result['seconds']} s")
    return "; ".join(parts) or "not measured yet"


def _figure(name: str, value: str) -> str:
    return f"{int(value):,} {name}" if value.isdigit() else f"{name}: {value}"


def _tests(entry: dict[str, Any]) -> str:
    return "<br>".join(f"`{name.removeprefix('tests/')}`" for name in entry["tests"])


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def page(results: dict[str, Any]) -> str:
    """Return the whole document."""
    claims, acceptance, audits, operations = (read(name) for name in FILES)
    lines = [
        "# Evidence",
        "",
        "Written by `make evidence` from `docs/evidence/`: change the entries there, not this page. Each claim stands with the command that",
        "repeats it, the tests that fail if it is untrue, and what came out last. `python scripts/evidence.py --run` repeats the quick ones and",
        "stores what came out; counts said without a date were written down when the long run was made.",
        "",
        "## What the README claims",
        "",
        _row("claim", "repeat it", "latest figure", "fails if untrue"),
        "|---|---|---|---|",
    ]
    lines += [
        _row(plain(each["says"]), f"`{each['command']}`", said(each, results), _tests(each))
        for each in claims
    ]
    lines += [
        "",
        "## What operators rely on",
        "",
        _row("what", "repeat it", "latest figure", "fails if untrue"),
        "|---|---|---|---|",
    ]
    lines += [
        _row(each["says"], f"`{each['command']}`", said(each, results), _tests(each))
        for each in operations
    ]
    lines += [
        "",
        "## The acceptance tests",
        "",
        "Twenty-five attacks that broke published systems, as tests. The count that must hold is that of `make test-full`; a short form runs with `make test`, and the",
        "figures are those of the short form unless they say otherwise.",
        "",
        _row("", "what must hold", "repeat it", "latest figure", "tests"),
        "|---|---|---|---|---|",
    ]
    lines += [
        _row(str(n), each["says"], f"`{each['command']}`", said(each, results), _tests(each))
        for n, each in enumerate(acceptance, 1)
    ]
    lines += [
        "",
        "## Audits: mechanisms and whole pipelines, each with its broken twin",
        "",
        "An audit runs a mechanism many times on two neighbouring inputs and computes a lower bound on its epsilon that is wrong with a chance of",
        "at most 1e-9. The bound must stay below the claim; a twin with a planted mistake must be caught by the same test.",
        "",
        _row("what", "the twin that is caught", "repeat it", "latest figure", "tests"),
        "|---|---|---|---|---|",
    ]
    lines += [
        _row(each["says"], each["twin"], f"`{each['command']}`", said(each, results), _tests(each))
        for each in audits
    ]
    return "\n".join(lines) + "\n\n" + (FOLDER / "threats.md").read_text()


def main() -> None:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", nargs="*", metavar="ID")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    results = stored()
    if given.run is not None:
        entries = [entry for name in FILES for entry in read(name)]
        wanted = [
            each
            for each in entries
            if each["id"] in given.run or (not given.run and each.get("quick"))
        ]
        for command in dict.fromkeys(each["command"] for each in wanted):
            print(command, flush=True)
            results[command] = run(command)
            RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    text = page(stored())  # as it is kept, in its order: the next run writes the same
    if given.check:
        sys.exit(PAGE.read_text() != text)
    PAGE.write_text(text)
    print(f"{PAGE.relative_to(ROOT)} written.")


if __name__ == "__main__":
    main()
