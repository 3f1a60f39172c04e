"""What `discreet learn impact` does: one paid model for each epsilon, tested by subgroup, as one report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.cli.commands.learn_work import check_test, check_training, privately_tested
from discreet.cli.waiting import counting
from discreet.core.bill import NOTHING_SPENT
from discreet.core.numbers import Epsilon, to_fraction
from discreet.errors import InvalidInput
from discreet.tasks.bare.bare_place import Foresee


def impact_written(
    place: Path | None, table: str, asked: dict[str, Any], *, test: tuple[Path, bool], out: Path
) -> dict[str, Any]:
    """Return accuracy by subgroup at each epsilon, after writing the report."""
    from discreet.api import open as open_curator
    from discreet.learn.scored.impact import ImpactPoint, impact_report
    from discreet.learn.scored.score import publicly_tested
    from discreet.report import write

    path, public = test
    epsilons = asked.pop("epsilons")
    points, spent = [], NOTHING_SPENT
    with open_curator(place) as curator, counting("Learning") as progress:
        check_test(curator, table, asked | {"epsilon": epsilons[0]}, path)
        check_room(curator, table, epsilons)
        for epsilon in epsilons:
            each = asked | {"epsilon": epsilon, "request_id": None}
            trained = curator.learn(table, progress=progress, **each)
            spent += trained.cost
            model = trained.model
            tested = publicly_tested(model, path) if public else privately_tested(model, path, each)
            points.append(ImpactPoint.of(float(Epsilon.of(epsilon).value), tested.facts))
    write(impact_report(asked["target"], table, points), out)
    return {
        "target": asked["target"],
        "points": [point.to_json() for point in points],
        "cost": spent.to_json(),
        "out": str(out),
    }


def check_first(asked: dict[str, Any], epsilons: list[str]) -> Foresee:
    """Return what refuses the first of these trainings, before the types of a bare file are paid for."""

    def refused(place: Path, table: str, left: dict[str, Any]) -> None:
        first = shares_of(epsilons, left["epsilon"])[0]
        check_training(place, table, asked | {"epsilon": first, "request_id": None})

    return refused


def shares_of(epsilons: list[str], whole: Any) -> list[str]:
    """Return epsilons in the same proportions that add up to `whole`.

    >>> shares_of(["1", "3"], "2")
    ['1/2', '3/2']
    """
    each = [to_fraction(epsilon) for epsilon in epsilons]
    return [str(part * Epsilon.of(whole).value / sum(each)) for part in each]


def check_room(curator: Any, table: str, epsilons: list[str]) -> None:
    """Refuse a row of trainings that the budget has no room for, before the first is charged."""
    from discreet.learn.prepare import find_private

    dataset, _ = find_private(curator.catalog, table)
    found = curator.budget_report()["datasets"][dataset.name]["epsilon"]
    wanted = sum(float(Epsilon.of(each).value) for each in epsilons)
    if wanted > found["limit"] - found["spent"] + 1e-9:
        raise InvalidInput(
            f"These models cost epsilon {wanted:g} together; {found['limit'] - found['spent']:g} is left.",
            hint="Name fewer or smaller epsilons. Nothing was charged.",
        )


def impact_words(found: dict[str, Any]) -> str:
    """Return the curve in words for a terminal."""
    lines = [
        f"epsilon {each['epsilon']:g}: right {each['accuracy']['value']:.1%}, "
        f"subgroups up to {each['gap']:.1%} apart"
        for each in found["points"]
    ]
    return "\n".join([*lines, f"Report: {found['out']} (epsilon {found['cost']['epsilon']:g})."])
