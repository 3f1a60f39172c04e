"""How many statements of each collection are answered, and whether the answers are right.

python -m benchmarks.statements.run [everyday clickbench smartnoise qrlew] [--file F] [--refused] [--table]

A statement is answered when it is explained, asked at a huge epsilon, and agrees with plain DuckDB over
the same rows (agree.py says how far bounds and clamps are set aside). `--file` asks the statements of
another file in the world of the one collection that is named.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.statements.agree import agree
from benchmarks.statements.worlds import WORLDS, build, truth

import discreet
from discreet.errors import DiscreetError

FOLDER = Path(__file__).parent
EPSILON = 1_000_000_000


@dataclass(frozen=True)
class Asked:
    """One statement, and whether it must stay refused."""

    sql: str
    refused: bool


@dataclass(frozen=True)
class Outcome:
    """What became of a statement: answered and right, or the reason why not."""

    asked: Asked
    answered: bool
    said: str = ""
    construct: str = ""


def statements(path: Path) -> list[Asked]:
    """Return the statements of a file; a comment line "-- refused" is about the next one."""
    found, lines, refused = [], [], False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("--"):
            refused = refused or line.startswith("-- refused")
            continue
        lines.append(line)
        if line.rstrip().endswith(";"):
            found.append(Asked("\n".join(lines).strip().rstrip(";"), refused))
            lines, refused = [], False
    rest = "\n".join(lines).strip()
    return [*found, Asked(rest, refused)] if rest else found


def outcome(asked: Asked, curator, database) -> Outcome:
    """Return what became of one statement."""
    try:
        curator.explain(asked.sql, epsilon=EPSILON)
        answer = curator.query(asked.sql, epsilon=EPSILON)
    except DiscreetError as error:
        construct = getattr(error, "construct", "") or type(error).__name__
        return Outcome(asked, answered=False, said=str(error).splitlines()[0], construct=construct)
    problem = agree(asked.sql, answer, database)
    return Outcome(asked, answered=not problem, said=problem, construct="disagrees")


def outcomes(name: str, path: Path | None = None) -> Iterator[Outcome]:
    """Yield what became of each statement of a collection."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with discreet.open(build(name, folder)) as curator:
            database = truth(folder)
            for asked in statements(path or FOLDER / f"{name}.sql"):
                yield outcome(asked, curator, database)


def table(name: str, found: list[Outcome]) -> list[str]:
    """Return the lines of the page: how many are answered, and why each of the others is not."""
    answered = sum(each.answered for each in found)
    lines = [f"| **{name}** | **{answered} of {len(found)} answered** |"]
    for each in found:
        if not each.answered:
            short = " ".join(each.asked.sql.split()).replace("|", "\\|")
            short = short if len(short) <= 90 else f"{short[:87]}..."
            said = each.said.split(". ")[0].rstrip(".").replace("|", "\\|")
            lines.append(
                f"| `{short}` | {said if each.construct != 'disagrees' else _nothing(said)} |"
            )
    return lines


def _nothing(said: str) -> str:
    return "answered, but no group has enough people to appear" if said == "no rows" else said


def main(arguments: list[str] | None = None) -> None:
    """Print a line for each collection, and what was refused with --refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(WORLDS))
    parser.add_argument("--file", type=Path)
    parser.add_argument("--refused", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args(arguments)
    for name in options.names:
        found = list(outcomes(name, options.file))
        if options.table:
            print("\n".join(table(name, found)))
            continue
        answered = sum(each.answered for each in found)
        must = sum(each.asked.refused for each in found)
        print(f"{name}: {answered} of {len(found)} answered ({must} must stay refused)")
        for each in found if options.refused else ():
            if each.asked.refused == each.answered:
                print(
                    f"  [{each.construct}] {' '.join(each.asked.sql.split())[:150]}\n      {each.said}"
                )


if __name__ == "__main__":
    main()
