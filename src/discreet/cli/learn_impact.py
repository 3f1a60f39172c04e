"""What `discreet learn impact` does: one paid model for each epsilon, tested by subgroup, as one report."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def impact_written(
    place: Path | None, table: str, asked: dict[str, Any], *, test: tuple[Path, bool], out: Path
) -> dict[str, Any]:
    """Return accuracy by subgroup at each epsilon, after writing the report."""
    from discreet.api import open as open_curator
    from discreet.cli.commands.learn_work import check_test, privately_tested
    from discreet.cli.waiting import counting
    from discreet.learn.scored.impact import ImpactPoint, impact_report
    from discreet.learn.scored.public_test import publicly_tested
    from discreet.report import write

    path, public = test
    epsilons = asked.pop("epsilons")
    points, spent = [], 0.0
    with open_curator(place) as curator, counting("Learning") as progress:
        check_test(curator, table, asked | {"epsilon": epsilons[0]}, path)
        check_room(curator, table, epsilons)
        for epsilon in epsilons:
            each = asked | {"epsilon": epsilon, "request_id": None}
            trained = curator.learn(table, progress=progress, **each)
            spent += float(trained.cost.epsilon or 0)
            model = trained.model
            tested = publicly_tested(model, path) if public else privately_tested(model, path, each)
            points.append(ImpactPoint.of(float(epsilon), tested.facts))
    write(impact_report(asked["target"], table, points), out)
    return {
        "target": asked["target"],
        "points": [point.to_json() for point in points],
        "cost": {"epsilon": round(spent, 9)},
        "out": str(out),
    }


def check_room(curator: Any, table: str, epsilons: list[str]) -> None:
    """Refuse a row of trainings that the budget has no room for, before the first is charged."""
    from discreet.core.numbers import Epsilon
    from discreet.errors import InvalidInput
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
