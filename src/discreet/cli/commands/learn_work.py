"""What the commands of `discreet learn` do: find the table, train, test, keep, say. Imported by who runs one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.api import open as open_curator
from discreet.catalog.read.policy_file import load
from discreet.cli.options import comma_list
from discreet.cli.terminal import budget_said, price_said
from discreet.cli.waiting import counting, waiting
from discreet.core.numbers import Epsilon, to_fraction
from discreet.errors import InvalidInput, UnknownName
from discreet.learn.kept.model_zip import read_model, write_model
from discreet.learn.prepare import needed_columns
from discreet.learn.recommend.model import Recommender
from discreet.learn.regress import regressed_columns
from discreet.learn.regressor import tested_regressor
from discreet.learn.request import LearnRequest
from discreet.learn.scored.read_file import check_columns
from discreet.learn.scored.score import publicly_tested
from discreet.report.save import check_target
from discreet.tasks.bare.bare_synth import ready_file


def viewer_ratings(written: str | None) -> dict[str, float]:
    """Return ITEM=RATING,... as ratings."""
    found: dict[str, float] = {}
    for part in comma_list(written):
        name, equals, value = part.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise InvalidInput(f"Write ratings as ITEM=RATING, not '{part[:40]}'.")
    return found


def kept_recommender(path: Path) -> Any:
    """Return the recommender in a file."""
    found = read_model(path)
    if not isinstance(found, Recommender):
        raise InvalidInput(f"'{path.name}' is a model, but no recommender.")
    return found


def recommender_and_kept(
    place: Path | None, table: str, asked: dict[str, Any], out: Path | None
) -> tuple[Any, dict[str, Any]]:
    """Return a recommender and the facts about it, after writing it."""
    with open_curator(place) as curator, waiting("Learning"):
        found = curator.recommend(table, **asked)
    target = out or Path(f"{table.rpartition('.')[2]}-recommender.zip")
    write_model(found.model, target)
    return found.model, found.to_json() | {"out": str(target)}


def sum_of(amounts: list[str]) -> str:
    """Return what several amounts are together, as exactly as they are written.

    >>> sum_of(["0.1", "0.2"])
    '3/10'
    """
    return str(sum((to_fraction(each) for each in amounts), Fraction(0)))


def check_places(test: Path | None, out: Path | None) -> None:
    """Refuse places that cannot be read or written, before anything is paid."""
    if test is not None and not test.is_file():
        raise InvalidInput(f"There is no file '{test}' to test on.")
    check_target(Path("model.zip") if out is None else out)


def check_training(place: Path, table: str, asked: dict[str, Any]) -> None:
    """Refuse a training that would be refused, before the types of a bare file are paid for."""
    with open_curator(place) as curator:
        needed_by(curator, table, asked)


def check_columns_there(place: Path, table: str, asked: dict[str, Any]) -> None:
    """Refuse a target or a feature that a bare file does not have, before anything is paid for."""
    dataset, _, name = table.rpartition(".")
    known = {column.name.lower() for column in load(place).table(name, dataset).columns}
    for wanted in (asked["target"], *asked["features"]):
        if wanted.lower() not in known:
            raise UnknownName(f"Column '{wanted[:60]}' of table '{name}' is not declared.")


def trained_and_kept(
    place: Path | None,
    table: str,
    asked: dict[str, Any],
    *,
    test: tuple[Path | None, bool],
    out: Path | None,
) -> dict[str, Any]:
    """Return what was learned, after writing it."""
    path, public = test
    target = out or Path(f"{table.rpartition('.')[2]}-{asked['target']}-model.zip")
    with open_curator(place) as curator, counting("Learning") as progress:
        if path is not None:
            check_test(curator, table, asked, path)
        trained = curator.learn(table, progress=progress, **asked)
    said, model = trained.to_json(), trained.model
    write_model(model, target)  # before the test: it is paid for, whatever the test says
    if path is not None:
        model = publicly_tested(model, path) if public else privately_tested(model, path, asked)
        facts = model.facts
        said |= {key: facts[key] for key in ("accuracy", "baseline", "subgroups", "test_rows")}
        said |= {"auc": facts["auc"]} if "auc" in facts else {}
        write_model(model, target)
    return said | {"out": str(target)}


def check_test(curator: Any, table: str, asked: dict[str, Any], path: Path) -> None:
    """Refuse a test file that lacks a column, before anything is paid for the model."""
    check_columns(path, needed_by(curator, table, asked))


def needed_by(curator: Any, table: str, asked: dict[str, Any]) -> tuple[str, ...]:
    """Return the columns that a training is about, or refuse it; nothing is paid."""
    return needed_columns(
        LearnRequest.of(table, **asked),
        curator,
    )


def privately_tested(model: Any, path: Path, asked: dict[str, Any]) -> Any:
    """Return the model after a test that the people of the test file pay for."""
    epsilon = Epsilon.of(asked["epsilon"])
    ready = ready_file(
        path, config=None, epsilon=epsilon, delta=None, unit="row", accept=False, pure=True
    )
    with ready as found, open_curator(found.config) as curator:
        again = asked["request_id"] and f"{asked['request_id']}-test"
        return curator.test_model(
            model, found.table, epsilon=found.epsilon, request_id=again or None
        )


def regressed_and_kept(
    place: Path | None, table: str, asked: dict[str, Any], *, test: Path | None, out: Path | None
) -> dict[str, Any]:
    """Return what was fitted, after writing it."""
    target = out or Path(f"{table.rpartition('.')[2]}-{asked['target']}-model.zip")
    with open_curator(place) as curator, waiting("Learning"):
        if test is not None:
            request = LearnRequest.of(table, task="regress", **asked)
            check_columns(test, regressed_columns(request, curator.catalog))
        found = curator.regress(table, **asked)
    said, model = found.to_json(), found.model
    write_model(model, target)  # before the test: it is paid for, whatever the test says
    if test is not None:
        score = tested_regressor(model, test)
        said |= score
        write_model(replace(model, facts={**model.facts, **score}), target)
    return said | {"out": str(target)}


def regression_words(found: dict[str, Any]) -> str:
    """Return a regression in words for a terminal."""
    done = f"Learned {found['target']} by '{found['model']}' ({found['seconds']:.1f} s)"
    score = f"Off by {found['baseline']:g} when always saying the mean"
    if found["rmse"] is not None:
        score = f"Off by {found['rmse']['value']:g} (root mean square); {score.lower()}"
    return f"{done}; kept in {found['out']}.\n{score}. Measured on {found['measured_on']}."


def check_public(test: Path | None, *, public: bool) -> None:
    """Refuse an exact test on rows that nobody has declared public."""
    if test is not None and not public:
        raise InvalidInput(
            f"'{test.name}' is not declared public, so it cannot be tested on exactly.",
            hint="If its rows are public, say --test-public. Nothing was charged.",
        )


def trained_words(found: dict[str, Any]) -> str:
    """Return a classifier in words for a terminal."""
    right = found["accuracy"]
    price, seconds = price_said(found), f"{found['seconds']:.1f} s"
    done = f"Learned {found['target']} by '{found['model']}' ({price}, {seconds})"
    interval = f"{right['low']:.1%} to {right['high']:.1%}"
    score = f"Right {right['value']:.1%} ({interval}) on {right['on']}"
    lines = [
        f"{done}; kept in {found['out']}.",
        f"{score}; always the most common class: {found['baseline']:.1%}.",
    ]
    return "\n".join([*lines, budget_said(found), *found["notices"]])
