"""`discreet learn classify|predict`: train a private model, and use one."""

from __future__ import annotations

import json as json_text
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.terminal import say

app = typer.Typer(
    help="Train a private model, and use it.", rich_markup_mode=None, add_completion=False
)

Source = Annotated[
    str, typer.Argument(metavar="FILE|TABLE", help="A CSV or Parquet file, or a declared table.")
]
Target = Annotated[str, typer.Option(help="The column to predict.")]
ModelName = Annotated[str, typer.Option(help="auto, logistic, boosted or bayes.")]
Features = Annotated[str | None, typer.Option(help="Predict from these columns only: age,sex,job.")]
Choose = Annotated[
    str | None, typer.Option(help="Train several and pay for a choice: logistic,boosted,bayes.")
]
Epsilon = Annotated[str, typer.Option(help="How much budget to use.")]
Delta = Annotated[str | None, typer.Option(help="The chance that the promise fails, such as 1e-9.")]
Test = Annotated[Path | None, typer.Option(help="Rows to test the model on.")]
TestPublic = Annotated[
    bool, typer.Option("--test-public", help="The test rows are public: test exactly, free.")
]
Out = Annotated[Path | None, typer.Option(help="Where to keep the model: a .zip file.")]
Accept = Annotated[
    bool, typer.Option("--accept", help="Declare the domains of a bare file public as they are.")
]
Unit = Annotated[
    str, typer.Option(help="Whom to protect in a bare file: 'row', or the person's column.")
]
Analyst = Annotated[str | None, typer.Option("--as", help="The analyst who asks.")]
RequestId = Annotated[
    str | None, typer.Option(help="Ask again under the same id: same model, no charge.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Config = Annotated[
    Path | None, typer.Option(help="The discreet.toml to use, if not in this folder.")
]


@app.command()
def classify(
    source: Source,
    *,
    target: Target,
    epsilon: Epsilon,
    delta: Delta = None,
    model: ModelName = "auto",
    features: Features = None,
    choose: Choose = None,
    test: Test = None,
    test_public: TestPublic = False,
    out: Out = None,
    accept: Accept = False,
    unit: Unit = "row",
    analyst: Analyst = None,
    request_id: RequestId = None,
    json: Json = False,
    config: Config = None,
) -> None:
    """Train a classifier, charging the budget first.

    Example: discreet learn classify people.csv --target income --epsilon 1 --delta 1e-9
    """
    from discreet.learn.request import LearnRequest

    _check_places(test, out)
    asked: dict[str, Any] = {
        "target": target,
        "epsilon": epsilon,
        "delta": delta,
        "model": model,
        "features": _names(features),
        "choose": _names(choose),
        "analyst": analyst,
        "request_id": request_id,
    }
    LearnRequest.of("", **asked)  # a mistake is refused before a discreet.toml is written for it
    place, table = _place(source, config, epsilon, delta, accept=accept, unit=unit)
    found = _trained(place, table, asked, test=(test, test_public), out=out)
    say(json_text.dumps(found) if json else _words(found))


@app.command()
def regress(
    source: Source,
    *,
    target: Target,
    epsilon: Epsilon,
    delta: Delta = None,
    model: Annotated[str, typer.Option(help="auto or ridge.")] = "auto",
    features: Features = None,
    test: Test = None,
    test_public: TestPublic = False,
    out: Out = None,
    accept: Accept = False,
    unit: Unit = "row",
    analyst: Analyst = None,
    request_id: RequestId = None,
    json: Json = False,
    config: Config = None,
) -> None:
    """Fit a ridge regression from noisy sums of products, charging the budget first.

    Example: discreet learn regress people.csv --target hours --epsilon 1 --delta 1e-9
    """
    from discreet.learn.request import LearnRequest

    _check_places(test, out)
    _check_public(test, public=test_public)
    asked: dict[str, Any] = {
        "target": target,
        "epsilon": epsilon,
        "model": model,
        "features": _names(features),
        "analyst": analyst,
        "request_id": request_id,
    }
    LearnRequest.of("", task="regress", **asked)
    place, table = _place(source, config, epsilon, delta, accept=accept, unit=unit)
    found = _regressed(place, table, asked, test=test, out=out)
    say(json_text.dumps(found) if json else _regression_words(found))


@app.command()
def select(
    source: Source,
    *,
    target: Annotated[str, typer.Option(help="The column of votes or bids.")],
    epsilon: Epsilon,
    kind: Annotated[
        str, typer.Option(help="vote: most common value; price: most revenue.")
    ] = "vote",
    accept: Accept = False,
    unit: Unit = "row",
    analyst: Analyst = None,
    request_id: RequestId = None,
    json: Json = False,
    config: Config = None,
) -> None:
    """Choose one of a column's declared values by the exponential mechanism, charging first.

    Example: discreet learn select people.csv --target region --epsilon 0.5
    """
    from discreet.api import open as open_curator

    place, table = _place(source, config, epsilon, None, accept=accept, unit=unit)
    with open_curator(place) as curator:
        found = curator.select(
            table, column=target, epsilon=epsilon, kind=kind, analyst=analyst, request_id=request_id
        ).to_json()
    if json:
        say(json_text.dumps(found))
        return
    bound = (
        f"at most {found['loss95']:g} below the best of {found['candidates']:,}, 95 times in 100"
    )
    say(f"{found['choice']} ({bound}; epsilon {found['cost']['epsilon']:g}).")


@app.command()
def recommend(
    source: Annotated[
        str | None, typer.Argument(metavar="FILE|TABLE", help="Ratings; not with --model.")
    ] = None,
    *,
    item: Annotated[str, typer.Option(help="The column that says what was rated.")] = "item",
    rating: Annotated[str, typer.Option(help="The column of the ratings.")] = "rating",
    epsilon: Annotated[str | None, typer.Option(help="How much budget to use.")] = None,
    delta: Delta = None,
    model: Annotated[Path | None, typer.Option(help="A recommender that was kept; free.")] = None,
    viewer: Annotated[
        str | None, typer.Option("--for", help="Somebody's ratings: 12=5,40=1.")
    ] = None,
    out: Out = None,
    accept: Accept = False,
    unit: Unit = "user_id",
    analyst: Analyst = None,
    request_id: RequestId = None,
    json: Json = False,
    config: Config = None,
) -> None:
    """Learn to recommend from everybody's ratings, or recommend to one viewer.

    Example: discreet learn recommend ratings --item film_id --epsilon 1 --for 12=5,40=1
    """
    from discreet.errors import InvalidInput

    if model is None and (source is None or epsilon is None):
        raise InvalidInput("Say what to learn from and --epsilon, or give a kept --model.")
    wanted = _viewer(viewer)
    found: dict[str, Any]
    if model is not None:
        kept, found = _kept_recommender(model), {"out": str(model), "free": True}
    else:
        _check_places(None, out)
        place, table = _place(str(source), config, str(epsilon), delta, accept=accept, unit=unit)
        asked = {"item": item, "rating": rating, "epsilon": epsilon, "delta": delta}
        kept, found = _recommending(
            place, table, asked | {"analyst": analyst, "request_id": request_id}, out
        )
    if wanted:
        best = kept.recommend(wanted)
        found["recommended"] = [{"item": name, "rating": value} for name, value in best]
    if json:
        say(json_text.dumps(found))
        return
    say(f"Kept in {found['out']}.")
    for each in found.get("recommended", []):
        say(f"{each['item']}: {each['rating']:g}")


def _viewer(written: str | None) -> dict[str, float]:
    """Return ITEM=RATING,... as ratings."""
    from discreet.errors import InvalidInput

    found: dict[str, float] = {}
    for part in _names(written):
        name, equals, value = part.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise InvalidInput(f"Write ratings as ITEM=RATING, not '{part[:40]}'.")
    return found


def _kept_recommender(path: Path) -> Any:
    from discreet.errors import InvalidInput
    from discreet.learn.model_zip import read_model
    from discreet.learn.recommend.model import Recommender

    found = read_model(path)
    if not isinstance(found, Recommender):
        raise InvalidInput(f"'{path.name}' is a model, but no recommender.")
    return found


def _recommending(
    place: Path | None, table: str, asked: dict[str, Any], out: Path | None
) -> tuple[Any, dict[str, Any]]:
    from discreet.api import open as open_curator
    from discreet.cli.waiting import waiting
    from discreet.learn.model_zip import write_model

    with open_curator(place) as curator, waiting("Learning"):
        found = curator.recommend(table, **asked)
    target = out or Path(f"{table.rpartition('.')[2]}-recommender.zip")
    write_model(found.model, target)
    return found.model, found.to_json() | {"out": str(target)}


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
    from discreet.learn.model_zip import read_model
    from discreet.learn.predict import predicted
    from discreet.report.rows import check_out, write_rows

    started = time.monotonic()
    target = out or Path(f"{file.stem}-predicted.csv")
    check_out(target)
    rows = predicted(read_model(model), file)
    write_rows(rows, target)
    found = {
        "rows": rows.num_rows,
        "columns": rows.column_names,
        "seconds": round(time.monotonic() - started, 3),
        "out": str(target),
    }
    say(json_text.dumps(found) if json else f"Wrote {rows.num_rows:,} predictions to {target}.")


def _names(written: str | None) -> list[str]:
    return [] if written is None else [name.strip() for name in written.split(",") if name.strip()]


def _check_places(test: Path | None, out: Path | None) -> None:
    """Refuse places that cannot be read or written, before anything is paid."""
    from discreet.errors import InvalidInput

    if test is not None and not test.is_file():
        raise InvalidInput(f"There is no file '{test}' to test on.")
    if out is not None and not out.parent.is_dir():
        raise InvalidInput(f"There is no folder '{out.parent}' to write to.")


def _place(
    source: str, config: Path | None, epsilon: str, delta: str | None, *, accept: bool, unit: str
) -> tuple[Path | None, str]:
    """Return the discreet.toml and the table that `source` means."""
    from discreet.catalog.bare import bare_table
    from discreet.cli.synth import FILES
    from discreet.core.numbers import Delta, Epsilon

    path = Path(source)
    if not path.exists() and path.suffix.lower() not in FILES:
        return config, source
    found = bare_table(
        path,
        config=config,
        epsilon=Epsilon.of(epsilon),
        delta=None if delta is None else Delta.of(delta),
        unit=unit,
        accept=accept,
    )
    return found.config, found.table


def _trained(
    place: Path | None,
    table: str,
    asked: dict[str, Any],
    *,
    test: tuple[Path | None, bool],
    out: Path | None,
) -> dict[str, Any]:
    """Return what was learned, after writing it."""
    from discreet.api import open as open_curator
    from discreet.cli.waiting import counting
    from discreet.learn.model_zip import write_model
    from discreet.learn.testing_rows import publicly_tested

    with open_curator(place) as curator, counting("Learning") as progress:
        trained = curator.learn(table, progress=progress, **asked)
    said, model = trained.to_json(), trained.model
    path, public = test
    if path is not None:
        model = publicly_tested(model, path) if public else _privately_tested(model, path, asked)
        facts = model.facts
        said |= {key: facts[key] for key in ("accuracy", "baseline", "subgroups", "test_rows")}
        said |= {"auc": facts["auc"]} if "auc" in facts else {}
    target = out or Path(f"{table.rpartition('.')[2]}-{asked['target']}-model.zip")
    write_model(model, target)
    return said | {"out": str(target)}


def _privately_tested(model: Any, path: Path, asked: dict[str, Any]) -> Any:
    """Return the model after a test that the people of the test file pay for."""
    from discreet.api import open as open_curator
    from discreet.catalog.bare import bare_table
    from discreet.core.numbers import Epsilon

    found = bare_table(path, epsilon=Epsilon.of(asked["epsilon"]))
    with open_curator(found.config) as curator:
        again = asked["request_id"] and f"{asked['request_id']}-test"
        return curator.test_model(
            model, found.table, epsilon=asked["epsilon"], request_id=again or None
        )


def _regressed(
    place: Path | None, table: str, asked: dict[str, Any], *, test: Path | None, out: Path | None
) -> dict[str, Any]:
    """Return what was fitted, after writing it."""
    from dataclasses import replace

    from discreet.api import open as open_curator
    from discreet.cli.waiting import waiting
    from discreet.learn.model_zip import write_model
    from discreet.learn.regressor import tested_regressor

    with open_curator(place) as curator, waiting("Learning"):
        found = curator.regress(table, **asked)
    said, model = found.to_json(), found.model
    if test is not None:
        score = tested_regressor(model, test)
        said |= score
        model = replace(model, facts={**model.facts, **score})
    target = out or Path(f"{table.rpartition('.')[2]}-{asked['target']}-model.zip")
    write_model(model, target)
    return said | {"out": str(target)}


def _regression_words(found: dict[str, Any]) -> str:
    done = f"Learned {found['target']} by '{found['model']}' ({found['seconds']:.1f} s)"
    score = f"Off by {found['baseline']:g} when always saying the mean"
    if found["rmse"] is not None:
        score = f"Off by {found['rmse']['value']:g} (root mean square); {score.lower()}"
    return f"{done}; kept in {found['out']}.\n{score}. Measured on {found['measured_on']}."


def _check_public(test: Path | None, *, public: bool) -> None:
    """Refuse an exact test on rows that nobody has declared public."""
    from discreet.errors import InvalidInput

    if test is not None and not public:
        raise InvalidInput(
            f"'{test.name}' is not declared public, so it cannot be tested on exactly.",
            hint="If its rows are public, say --test-public. Nothing was charged.",
        )


def _words(found: dict[str, Any]) -> str:
    price = "free" if found["free"] else f"epsilon {found['cost']['epsilon']:g}"
    if found["cost"]["delta"]:
        price += f", delta {found['cost']['delta']:g}"
    right = found["accuracy"]
    done = f"Learned {found['target']} by '{found['model']}' ({price}, {found['seconds']:.1f} s)"
    interval = f"{right['low']:.1%} to {right['high']:.1%}"
    score = f"Right {right['value']:.1%} ({interval}) on {right['on']}"
    lines = [
        f"{done}; kept in {found['out']}.",
        f"{score}; always the most common class: {found['baseline']:.1%}.",
    ]
    budget = found["budget"]
    left = max(budget["limit"]["epsilon"] - budget["after"]["epsilon"], 0)
    lines.append(f"Left of the budget: {left:g} of {budget['limit']['epsilon']:g}.")
    return "\n".join([*lines, *found["notices"]])
