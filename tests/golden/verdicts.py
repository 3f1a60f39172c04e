"""The kernel's verdicts: final SQL, and what is derived from it, or why it is refused.

    python tests/golden/verdicts.py          draws statements and keeps those that reach something new

Statements are those of the lying planner and of the small world of scalars. One is kept if judging it takes a step
in the kernel (from one line to the next) that no statement before it took, or ends in a new sentence.
"""

from __future__ import annotations

import random
import sys
import types
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kit import HERE, Pair, read, write

import total_kit
from discreet.base.unit import Neighbours
from discreet.privacy.kernel.mechanism import Kind
from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.kernel.read_sqlglot import read_sqlglot
from discreet.privacy.kernel.rows import filtered
from discreet.privacy.kernel.scalars import value_of
from discreet.privacy.kernel.seal import Draft, MeasureDraft, Read, sealed
from kernel_kit import duckdb_tree
from lying_kit import Liar
from lying_shapes import SHAPES
from lying_twins import TWINS
from lying_world import SCANS

FILE = HERE / "verdicts.txt"
KERNEL = str(HERE.parents[1] / "src" / "discreet" / "privacy" / "kernel")


def verdict(pair: Pair) -> str:
    """Return what the kernel makes of one statement, by each of its two readers."""
    if "scalar" in pair.options:
        return _of_scalar(pair.sql)
    found = {name: _of_draft(pair, tree) for name, tree in READERS.items()}
    (one, first), (two, second) = found.items()
    return f"{first}" if first == second else f"{one}: {first}\n{two}: {second}"


READERS = {"duckdb": duckdb_tree, "sqlglot": lambda sql: read_sqlglot(sql, "duckdb")}


def _of_draft(pair: Pair, tree: Any) -> str:
    try:
        return _told(sealed(draft_of(pair), tree(pair.sql), SCANS[neighbours_of(pair)]))
    except Unfit as error:
        return f"refused: {error}"


def _told(found: Read) -> str:
    facts, stability = found.facts, found.stability
    region = {f"{base}": f"{positions}" for base, positions in facts.region.items()}
    outputs = ", ".join(f"{each.form.name} [{each.low}, {each.high}]" for each in facts.outputs)
    about = "; single" * facts.single + "; people" * facts.person + "; numbered" * facts.numbered
    moved = [
        f"{name}: {bound.kind.name} [{bound.low}, {bound.high}] moves {stability.l1(bound)}, squared "
        f"{stability.l2_squared(bound)}"
        for name, bound in found.bounds.items()
    ]
    whose = f"{facts.rows} rows of {', '.join(facts.private)}"
    head = f"{facts.keys} keys; {outputs}; {whose}{about}"
    return "\n".join([head, f"region {dict(sorted(region.items()))}", *moved])


def _of_scalar(scalar: str) -> str:
    try:
        tree = duckdb_tree(total_kit.statement(scalar))
        below = filtered(tree, total_kit.SCANS)
        return repr(value_of(tree.outputs[0][1].operand, below.values))
    except Unfit as error:
        return f"refused: {error}"


def draft_of(pair: Pair) -> Draft:
    """Return a draft from its line of options."""
    measures = {}
    for name, written in pair.options.items():
        if name.startswith("m"):
            kind, places, centre = written.split(":")
            numbers = tuple(int(place) for place in places.split(",") if place)
            measures[name] = MeasureDraft(Kind[kind], numbers, int(centre))
    return Draft(pair.sql, measures, pair.options.get("choice"))


def neighbours_of(pair: Pair) -> Neighbours:
    return Neighbours(pair.options["neighbours"])


def _pair(draft: Draft, neighbours: Neighbours) -> Pair:
    measures = {
        name: f"{asked.kind.name}:{','.join(map(str, asked.places))}:{asked.centre}"
        for name, asked in draft.measures.items()
    }
    choice = {} if draft.choice is None else {"choice": draft.choice}
    return Pair({"neighbours": neighbours.value, **choice, **measures}, draft.sql, "")


def drawn() -> Iterator[Pair]:
    """Yield many statements, the plainest first."""
    for draft in chain(SHAPES.values(), (twin.draft for twin in TWINS.values())):
        yield from (_pair(draft, neighbours) for neighbours in Neighbours)
    yield from (Pair({"scalar": "yes"}, scalar, "") for scalar in dict.fromkeys(total_kit.drafts()))
    dice = random.Random(5)
    for _ in range(6000):
        draft = Liar(dice, dice.choice([0.0, 0.02, 0.05, 0.15])).draft()
        yield _pair(draft, dice.choice(list(Neighbours)))


def steps(pair: Pair) -> tuple[set[tuple[str, int, int]], str]:
    """Return the steps that the kernel takes to judge a statement, and its verdict."""
    found: set[tuple[str, int, int]] = set()

    def call(frame: types.FrameType, _what: str, _arg: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(KERNEL):
            return None
        before = frame.f_lineno

        def line(frame: types.FrameType, _what: str, _arg: Any) -> Any:
            nonlocal before
            found.add((name, before, frame.f_lineno))
            before = frame.f_lineno
            return line

        return line

    sys.settrace(call)
    try:
        return found, verdict(pair)
    finally:
        sys.settrace(None)


def main() -> None:
    head, kept = read(FILE)
    seen: set[Any] = set()
    for pair in kept:
        taken, told = steps(pair)
        seen |= taken | {told}
    for pair in drawn():
        if "\n\n" in pair.sql or any(" " in each for each in pair.options.values()):
            continue
        taken, told = steps(pair)
        ends = {line for line in told.splitlines() if "refused" in line}
        if not (taken | ends) <= seen:
            seen |= taken | ends
            kept.append(Pair(pair.options, pair.sql, told))
    write(FILE, head, kept)
    print(f"{len(kept)} statements")


if __name__ == "__main__":
    main()
