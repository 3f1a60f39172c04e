"""One paid classifier of FILE|TABLE for each epsilon, tested by subgroup, as one report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.api import Curator
from discreet.api import open as open_curator
from discreet.core.bill import NOTHING_SPENT, Bill, Charged
from discreet.core.numbers import Epsilon, Number, to_fraction
from discreet.core.progress import Progress, silent
from discreet.errors import InvalidInput
from discreet.learn.evaluation import ImpactPoint, impact_report
from discreet.learn.training_plan import LearnRequest, find_private
from discreet.report import write
from discreet.report.document import REPORT_FILES, check_target
from discreet.tasks.bare_file.bare_place import WrittenSource, typed_place
from discreet.tasks.learning.classify import check_trainings, scored
from discreet.tasks.learning.private_test import declared_test
from discreet.tasks.learning.written_model import HeldOutFile


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Impact(Charged):
    """Accuracy by subgroup at each epsilon, and the report that was written."""

    target: str
    points: tuple[ImpactPoint, ...]
    out: Path

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet learn impact --json` prints."""
        return {
            "target": self.target,
            "points": [point.to_json() for point in self.points],
            "cost": self.cost.to_json(),
            "out": str(self.out),
        }


def impact(
    source: WrittenSource,
    epsilons: Sequence[str],
    asked: dict[str, Any],
    *,
    test: HeldOutFile,
    out: Path,
    progress: Progress = silent,
) -> Impact:
    """Return whom a model serves how well at several epsilons, after writing the report."""
    check_target(out, REPORT_FILES, apart=[source.written, test.path])
    for epsilon in epsilons:
        LearnRequest.of("", epsilon=epsilon, **asked)
    delta = asked["delta"]
    paid = {
        "epsilon": sum_of(epsilons),
        "delta": delta and sum_of([delta] * len(epsilons)),
        "analyst": asked.get("analyst"),
        "request_id": None,
    }

    def foresee(config: Path, table: str, left: dict[str, Any]) -> None:
        with open_curator(config) as curator:
            check_room(curator, table, epsilons)  # types come out of the same whole
            check_trainings(
                curator, table, _wanted(shares_of(epsilons, left["epsilon"]), asked), test
            )

    with typed_place(source, paid, foresee=foresee, pure=True) as place:
        wanted = _wanted(shares_of(epsilons, place.asked["epsilon"]), asked)
        with open_curator(place.config) as curator:
            points, bill = _all_trained(curator, place.table, wanted, test=test, progress=progress)
        write(impact_report(asked["target"], place.table, points), out)
        return place.told(Impact(bill=bill, target=asked["target"], points=tuple(points), out=out))


def _all_trained(
    curator: Curator,
    table: str,
    wanted: Sequence[dict[str, Any]],
    *,
    test: HeldOutFile,
    progress: Progress,
) -> tuple[list[ImpactPoint], Bill]:
    """Return what each training came to, and the bill of all of them."""
    check_room(curator, table, [each["epsilon"] for each in wanted])
    check_trainings(curator, table, wanted, test)
    points, bills = [], []
    with declared_test(test, wanted):
        for each in wanted:
            trained = curator.learn(table, progress=progress, **each)
            bills.append(trained.bill)
            tested = scored(trained.model, test, each)
            points.append(ImpactPoint.of(float(Epsilon.of(each["epsilon"]).value), tested.facts))
    cost = sum((bill.cost for bill in bills), NOTHING_SPENT)
    return points, replace(bills[-1], cost=cost, before=bills[0].before)


def _wanted(epsilons: Sequence[str], asked: dict[str, Any]) -> list[dict[str, Any]]:
    return [asked | {"epsilon": epsilon, "request_id": None} for epsilon in epsilons]


def sum_of(amounts: Sequence[str]) -> str:
    """Return what several amounts are together, as exactly as they are written.

    >>> sum_of(["0.1", "0.2"])
    '3/10'
    """
    return str(sum((to_fraction(each) for each in amounts), Fraction(0)))


def shares_of(epsilons: Sequence[str], whole: Number | Epsilon) -> list[str]:
    """Return epsilons in the same proportions that add up to `whole`.

    >>> shares_of(["1", "3"], "2")
    ['1/2', '3/2']
    """
    each = [to_fraction(epsilon) for epsilon in epsilons]
    return [str(part * Epsilon.of(whole).value / sum(each)) for part in each]


def check_room(curator: Curator, table: str, epsilons: Sequence[str]) -> None:
    """Refuse a row of trainings that the budget has no room for, before the first is charged."""
    dataset, _ = find_private(curator.catalog, table)
    left = curator.ledger.balance(dataset.budget).left
    wanted = to_fraction(sum_of(epsilons))
    if wanted > left:
        raise InvalidInput(
            f"These models cost epsilon {float(wanted):g} together; {float(left):g} is left.",
            hint="Name fewer or smaller epsilons. Nothing was charged.",
        )
