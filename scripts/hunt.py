"""Hunt for statements that show more of one person than they are charged for.

Run `python scripts/hunt.py --folder DIR --seeds 0:100`: each seed is a world of odd sources with 500
statements; a finished one is skipped when the same folder is given again. Exact results (no noise) are compared
between neighbours with what the kernel admitted.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hunt_grammar import Grammar
from hunt_judge import Regions, compared, gaps_of
from hunt_world import Readers, World

from discreet.data.catalog.catalog import Catalog
from discreet.base.numbers import Delta, Epsilon
from discreet.base.proof import permit_for
from discreet.data.engines.base import PaidReader
from discreet.errors import DiscreetError, InternalError
from discreet.privacy.kernel.look import ExactResults, exact
from discreet.ask.plan.plan import Plan, PublicGroups, ask, make_plan
from discreet.ask.release.post_processing import nested_in
from discreet.ask.release.sealing import Sealed, seal
from discreet.ask.sql.bind import bind
from discreet.ask.sql.parse import ParsedQuestion, read_checked
from discreet.ask.sql.post_processing.split import split

SNAPSHOTS = dict.fromkeys(("folk", "patients", "visits", "labs", "notes"), "1")
OTHERS = 2
EACH = 500
LONGEST = 30_000
"""Letters of SQL: a longer one takes DuckDB seconds to plan."""


@dataclass
class Tally:
    """What one seed came to."""

    counts: Counter[str] = field(default_factory=Counter)
    found: list[tuple[str, str]] = field(default_factory=list)
    odd: list[tuple[str, str]] = field(default_factory=list)


def questions(sql: str, catalog: Catalog) -> list[ParsedQuestion]:
    """Return the private questions of a statement, as `release.statement` finds them."""
    tree = read_checked(sql)
    nested = nested_in(tree, catalog)
    found = []
    if nested is not None:
        found = [ParsedQuestion(sql, inner.select.copy()) for inner in nested.private]
        tree = nested.sampled(catalog)
    program = split(tree, catalog)
    parts = [tree] if program is None else list(program.parts)
    return found + [ParsedQuestion(sql, part) for part in parts]


@dataclass(frozen=True)
class Hunter:
    """Asks statements of one world, and judges them on all pairs of its neighbours."""

    world: World
    regions: Regions
    readers: Readers
    dice: random.Random
    tally: Tally

    def tried(self, sql: str) -> None:
        """Judge one statement."""
        counts, odd = self.tally.counts, self.tally.odd
        counts["statements"] += 1
        try:
            asked = [self._planned(question) for question in questions(sql, self.world.catalog)]
        except DiscreetError as error:
            counts[f"refused: {type(error).__name__}"] += 1
            if isinstance(error, InternalError):
                odd.append((sql, repr(error)[:300]))
            return
        except Exception as error:  # noqa: BLE001 whatever it is, somebody must look at it
            counts["our own mistakes"] += 1
            odd.append((sql, f"{type(error).__name__}: {error}"[:300]))
            return
        counts["accepted"] += 1
        for plan, sealed in asked:
            if any(len(read.draft.sql) > LONGEST for read in sealed.reads):
                counts["too slow to run"] += 1
            elif not plan.question.region.empty:
                self._judged(sql, plan, sealed)

    def _planned(self, question: ParsedQuestion) -> tuple[Plan, Sealed]:
        catalog = self.world.catalog
        rows = self.dice.choice([None, None, 1, 4])
        asked = ask(bind(question, catalog, max_rows=rows), catalog, SNAPSHOTS)
        delta = catalog.budget_of(asked.dataset).delta
        plan = make_plan(asked, epsilon=Epsilon.of("1"), budget_delta=Delta(delta.value))
        engine: Any = self.readers
        found = seal(plan, catalog, engine)
        found.quote(plan)
        return plan, found

    def _exact(self, plan: Plan, sealed: Sealed, place: int) -> ExactResults:
        groups = plan.question.groups
        return exact(
            sealed.reads,
            sealed.mechanisms,
            tuple(key.domain for key in plan.question.statement.keys),
            groups if isinstance(groups, PublicGroups) else None,
            PaidReader(
                permit_for("hunt", "nobody's rows: a world made up for this"),
                run=lambda sql, **_: self.readers.run(place, sql),
                keep=str,
                private={},
            ),
        )

    def _judged(self, sql: str, plan: Plan, sealed: Sealed) -> None:
        found: list[ExactResults] = []
        places = range(self.world.size)
        for place in places:
            try:
                found.append(self._exact(plan, sealed, place))
            except Exception as error:  # noqa: BLE001 an error is an answer about a row
                said = f"fails on rows {place}: {type(error).__name__}: {str(error)[:300]}"
                self.tally.found.append((sql, said))
                return
        outside = [any(self.regions.outside(read, i) for read in sealed.reads) for i in places]
        names = [name for read in sealed.reads for name in read.bounds]
        replaced = self.world.neighbours == "replace-one"
        pairs = itertools.combinations(places, 2)
        for one, two in (pair for pair in pairs if (pair[0] > 0) == replaced):
            self.tally.counts["pairs"] += 1
            moved = any(gaps_of(found[one], found[two], name) for name in names)
            self.tally.counts["pairs that move"] += moved
            away = outside[two] and (not one or outside[one])
            said_all = compared(plan, sealed, found[one], found[two], outside=away)
            if said_all:
                self.tally.found.append(
                    (sql, f"{self.world.neighbours} {one} {two}: {said_all[0]}")
                )
                return


def hunt(seed: int, each: int = EACH) -> Tally:
    """Return what a seed's world and statements came to."""
    dice = random.Random(seed)  # noqa: S311 nothing here is secret
    world, tally = World(random.Random(seed), OTHERS), Tally()  # noqa: S311
    hunter, grammar = Hunter(world, Regions(world), Readers(world), dice, tally), Grammar(dice)
    tally.found += [(f"seed {seed}", said) for said in hunter.regions.broken]
    for _ in range(each):
        hunter.tried(grammar.statement())
    world.connection.close()
    return tally


def main() -> None:
    """Hunt with several seeds, and keep what each came to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seeds", default="0:1")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    first, last = map(int, options.seeds.split(":"))
    total: Counter[str] = Counter()
    for seed in range(first, last):
        kept = options.folder / f"{seed}.json"
        if not kept.exists():
            start, tally = time.monotonic(), hunt(seed)
            tally.counts["seconds"] = round(time.monotonic() - start)
            kept.write_text(json.dumps(vars(tally), indent=1, ensure_ascii=False))
        said = json.loads(kept.read_text())
        total.update(said["counts"])
        total["violations"] += len(said["found"])
        print(seed, json.dumps(total), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
