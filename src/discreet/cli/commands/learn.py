"""`discreet learn classify|predict`: train a private model, and use one."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import learn_words
from discreet.cli.options import Accept, Config, Json, Source, UnitOption, comma_list, command_group
from discreet.cli.public_declaration import held_out
from discreet.cli.request_options import with_options
from discreet.cli.terminal import say, tell
from discreet.cli.waiting import counting, waiting
from discreet.core.requests.learn import (
    LocalLearnFields,
    RecommendFields,
    RegressFields,
    SelectFields,
)
from discreet.errors import InvalidInput
from discreet.learn.learners.registry import REGRESS, choices

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
    tell(found, lambda: learn_words.trained_words(found), json=json)


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
    tell(found, lambda: learn_words.regression_words(found), json=json)


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
    tell(found, lambda: learn_words.impact_words(found), json=json)


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
    from discreet.learn.adversarial import hidden, task_rows

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
    from discreet.api import open as open_curator
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
    wanted = learn_words.viewer_ratings(viewer)
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
    from discreet.learn.model_files import predicted, read_model
    from discreet.report.document import check_target
    from discreet.report.rows import ROW_FILES, write_rows

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
