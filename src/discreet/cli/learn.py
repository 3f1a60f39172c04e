"""`discreet learn classify|predict|...`: train a private model, and use one.

What its commands read and say, and the question on a terminal whether the rows of a test file are public.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.base.requests.paid import (
    LocalLearnFields,
    RecommendFields,
    RegressFields,
    SelectFields,
)
from discreet.cli.command import (
    Accept,
    Config,
    Json,
    Source,
    UnitOption,
    comma_list,
    command_group,
    counting,
    waiting,
    with_options,
)
from discreet.cli.terminal import budget_said, price_said, say, tell
from discreet.errors import InvalidInput
from discreet.work.learn.learners.registry import REGRESS, choices

if TYPE_CHECKING:
    from discreet.tasks.bare_file import WrittenSource
    from discreet.tasks.model_test import HeldOutFile


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


def regression_words(found: dict[str, Any]) -> str:
    """Return a regression in words for a terminal."""
    done = f"Learned {found['target']} by '{found['model']}' ({found['seconds']:.1f} s)"
    score = f"Off by {found['baseline']:g} when always saying the mean"
    if found["rmse"] is not None:
        score = f"Off by {found['rmse']['value']:g} (root mean square); {score.lower()}"
    return f"{done}; kept in {found['out']}.\n{score}. Measured on {found['measured_on']}."


def impact_words(found: dict[str, Any]) -> str:
    """Return the curve in words for a terminal."""
    lines = [
        f"epsilon {each['epsilon']:g}: right {each['accuracy']['value']:.1%}, "
        f"subgroups up to {each['gap']:.1%} apart"
        for each in found["points"]
    ]
    return "\n".join([*lines, f"Report: {found['out']} (epsilon {found['cost']['epsilon']:g})."])


def held_out(test: Path, source: WrittenSource, *, said: bool) -> HeldOutFile:
    """Return a test file with the owner's word on it; `said` is --test-public."""
    from discreet.tasks.model_test import HeldOutFile, check_held_out

    check_held_out(test)
    return HeldOutFile(test, said_public(test, source.base, said=said))


def said_public(test: Path, base: Path, *, said: bool) -> bool:
    """Return whether the owner declared these very rows public: said now or before, or asked on a terminal."""
    from discreet.tasks.model_test import declared_public

    def asked() -> bool:
        return typer.confirm(
            f"Are the rows of {test.name} public? Then the test is exact and free; otherwise it is "
            "charged to the people in them.",
            default=False,
            err=True,
        )

    watched = sys.stdin.isatty() and sys.stderr.isatty()
    return declared_public(test, base, said=said, ask=asked if watched else None)


app = command_group(help="Train a private model, and use it.")

Features = Annotated[str | None, typer.Option(help="Predict from these columns only: age,sex,job.")]
Test = Annotated[Path | None, typer.Option(help="Rows to test the model on.")]
TestPublic = Annotated[
    bool, typer.Option("--test-public", help="The test rows are public: test exactly, free.")
]
Out = Annotated[Path | None, typer.Option(help="Where to keep the model: a .zip file.")]

BARE_DELTA = "For a bare file: what to declare of it. A declared table has its own."


@app.command()
@with_options(LocalLearnFields, leave=("table",), **choices())
def classify(
    source: Source,
    *,
    test: Test = None,
    test_public: TestPublic = False,
    out: Out = None,
    accept: Accept = False,
    unit: UnitOption = "row",
    json: Json = False,
    config: Config = None,
    **asked: Any,
) -> None:
    """Train a classifier, charging the budget first.

    Example: discreet learn classify people.csv --target income --epsilon 1 --delta 1e-9
    """
    from discreet.tasks.bare_file import WrittenSource
    from discreet.tasks.learn import classify_kept

    place = WrittenSource(source, config, unit, accept)
    tested = None if test is None else held_out(test, place, said=test_public)
    with counting("Learning") as progress:
        kept = classify_kept(place, asked, test=tested, out=out, progress=progress)
    found = kept.to_json()
    tell(found, lambda: trained_words(found), json=json)


@app.command()
@with_options(RegressFields, leave=("table",), delta={"help": BARE_DELTA}, **choices(REGRESS))
def regress(
    source: Source,
    *,
    test: Test = None,
    test_public: TestPublic = False,
    out: Out = None,
    accept: Accept = False,
    unit: UnitOption = "row",
    json: Json = False,
    config: Config = None,
    **asked: Any,
) -> None:
    """Fit a ridge regression from noisy sums of products, charging the budget first.

    Example: discreet learn regress people.csv --target hours --epsilon 1 --delta 1e-9
    """
    from discreet.tasks.bare_file import WrittenSource
    from discreet.tasks.learn import regress_kept

    place = WrittenSource(source, config, unit, accept)
    tested = None if test is None else held_out(test, place, said=test_public)
    with waiting("Learning"):
        kept = regress_kept(place, asked, test=tested, out=out)
    found = kept.to_json()
    tell(found, lambda: regression_words(found), json=json)


@app.command()
@with_options(RegressFields, leave=("table", "epsilon", "request_id"), **choices())
def impact(
    source: Source,
    *,
    epsilons: Annotated[str, typer.Option(help="One model for each, all of them paid: 0.5,1,3.")],
    test: Annotated[Path, typer.Option(help="Rows to test the models on.")],
    test_public: TestPublic = False,
    out: Annotated[Path, typer.Option(help="Where to write the report: .html or .json.")] = Path(
        "impact.html"
    ),
    accept: Accept = False,
    unit: UnitOption = "row",
    json: Json = False,
    config: Config = None,
    **asked: Any,
) -> None:
    """Show whom a model serves how well, at several epsilons: accuracy by subgroup, with a picture.

    Example: discreet learn impact people --target income --epsilons 0.5,1,3 --test new.csv
    """
    from discreet.tasks.bare_file import WrittenSource
    from discreet.tasks.learn import impact as made_impact

    place = WrittenSource(source, config, unit, accept)
    tested = held_out(test, place, said=test_public)
    with counting("Learning") as progress:
        made = made_impact(
            place, comma_list(epsilons), asked, test=tested, out=out, progress=progress
        )
    found = made.to_json()
    tell(found, lambda: impact_words(found), json=json)


@app.command()
def hide(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Rows that are public.")],
    *,
    target: Annotated[str, typer.Option(help="The column to predict.")],
    sensitive: Annotated[str, typer.Option(help="The column to hide.")],
    strength: Annotated[float, typer.Option(min=0, max=100, help="How hard to hide it.")] = 1.0,
    features: Features = None,
    public: Annotated[bool, typer.Option("--public", help="These rows are public.")] = False,
    json: Json = False,
) -> None:
    """Train a representation that hides an attribute, and try to recover it: no guarantee.

    Example: discreet learn hide adult.csv --target income --sensitive sex --public
    """
    from discreet.work.learn.adversarial import hidden, task_rows

    if not public:
        raise InvalidInput(
            "This training reads rows without any privacy, so it takes public ones only.",
            hint="If they are, say --public. For private rows: discreet learn classify.",
        )
    rows = task_rows(file, target, sensitive, comma_list(features))
    found = hidden(rows, strength).to_json() | {"target": target, "sensitive": sensitive}
    tell(
        found,
        lambda: (
            f"{target}: right {found['task']['value']:.1%} ({found['task_open']['value']:.1%} without hiding; "
            f"always the most common: {found['task_baseline']:.1%}).\n"
            f"{sensitive} recovered by the adversary in training: {found['during']:.1%}; by a fresh, stronger "
            f"one: {found['fresh']['value']:.1%} ({found['fresh_open']['value']:.1%} without hiding; always the "
            f"most common: {found['baseline']:.1%}).\n"
            "This carries no guarantee: a better adversary may recover more."
        ),
        json=json,
    )


@app.command()
@with_options(SelectFields, leave=("table",))
def select(
    source: Source,
    *,
    accept: Accept = False,
    unit: UnitOption = "row",
    json: Json = False,
    config: Config = None,
    **asked: Any,
) -> None:
    """Choose one of a column's declared values by the exponential mechanism, charging first.

    Example: discreet learn select people.csv --target region --epsilon 0.5 --accept
    """
    from discreet.curator import open as open_curator
    from discreet.tasks.bare_file import WrittenSource, declared_place

    written = WrittenSource(source, config, unit, accept)
    with (
        declared_place(written, asked["epsilon"], None) as (place, table),
        open_curator(place) as curator,
    ):
        found = curator.select(table, **asked).to_json()
    bound = (
        f"at most {found['loss95']:g} below the best of {found['candidates']:,}, 95 times in 100"
    )
    words = f"{found['choice']} ({bound}; epsilon {found['cost']['epsilon']:g})."
    tell(found, words, json=json)


@app.command()
@with_options(
    RecommendFields,
    leave=("table",),
    item={"default": "item"},
    rating={"default": "rating"},
    epsilon={"default": None},
)
def recommend(
    source: Annotated[
        str | None, typer.Argument(metavar="FILE|TABLE", help="Ratings; not with --model.")
    ] = None,
    *,
    model: Annotated[Path | None, typer.Option(help="A recommender that was kept; free.")] = None,
    viewer: Annotated[
        str | None, typer.Option("--for", help="Somebody's ratings: 12=5,40=1.")
    ] = None,
    out: Out = None,
    accept: Accept = False,
    unit: UnitOption = "user_id",
    json: Json = False,
    config: Config = None,
    **asked: Any,
) -> None:
    """Learn to recommend from everybody's ratings, or recommend to one viewer.

    Example: discreet learn recommend ratings --item film_id --epsilon 1 --for 12=5,40=1
    """
    from discreet.tasks.bare_file import WrittenSource
    from discreet.tasks.learn import kept_recommender, recommend_kept

    if model is None and (source is None or asked["epsilon"] is None):
        raise InvalidInput("Say what to learn from and --epsilon, or give a kept --model.")
    wanted = viewer_ratings(viewer)
    kept: Any
    found: dict[str, Any]
    if model is not None:
        kept, found = kept_recommender(model), {"out": str(model), "free": True}
    else:
        written = WrittenSource(str(source), config, unit, accept)
        with waiting("Learning"):
            made = recommend_kept(written, asked, out=out, viewer=wanted)
        kept, found = made.model, made.to_json()
    if wanted:
        best = kept.recommend(wanted)
        found["recommended"] = [{"item": name, "rating": value} for name, value in best]
    tell(found, f"Kept in {found['out']}.", json=json)
    for each in [] if json else found.get("recommended", []):
        say(f"{each['item']}: {each['rating']:g}")


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model that was kept.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Rows to predict for.")],
    *,
    out: Annotated[Path | None, typer.Option(help="Where to write: .csv or .parquet.")] = None,
    json: Json = False,
) -> None:
    """Predict for the rows of a file: reads no private data, costs nothing.

    Example: discreet learn predict model.zip new.csv --out predicted.csv
    """
    from discreet.show.document import check_target
    from discreet.show.rows import ROW_FILES, write_rows
    from discreet.work.learn.model_files import predicted, read_model

    started = time.monotonic()
    target = out or Path(f"{file.stem}-predicted.csv")
    check_target(target, ROW_FILES, apart=[model, file])
    rows = predicted(read_model(model), file)
    write_rows(rows, target)
    found = {
        "rows": rows.num_rows,
        "columns": rows.column_names,
        "seconds": round(time.monotonic() - started, 3),
        "out": str(target),
    }
    tell(found, f"Wrote {rows.num_rows:,} predictions to {target}.", json=json)
