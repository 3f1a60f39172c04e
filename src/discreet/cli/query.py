"""`discreet query`: ask in SQL, get a private answer with its error and its price; and `discreet bounds`.

Bounds are what each max_rows leaves out beside its noise, from a small paid look.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.base.display import visible
from discreet.base.requests.fields import request_fields
from discreet.base.requests.paid import (
    BoundsFields,
    ExplainFields,
    QueryFields,
    QuestionFields,
    RehearseFields,
)
from discreet.cli.command import Config, Json, those_of, waiting, with_options
from discreet.cli.terminal import tell
from discreet.errors import InvalidInput


@with_options(QuestionFields, leave=("sql",))
def query(
    sql: Annotated[str, typer.Argument(help=request_fields(QuestionFields)["sql"].help)],
    *,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show plan, price and error; spend nothing.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw the answer: .svg, .png, .html or .json.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Also write the answer as CSV.")] = None,
    json: Json = False,
    config: Config = None,
    **asked: Any,
) -> None:
    """Answer one SQL question privately, charging the budget first.

    Example: discreet query "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex" --epsilon 0.5
    """
    from discreet.curator import open as open_curator

    if not explain:
        _check_places(plot, csv)
    if asked["seed"] is not None and not explain:
        _check_rehearsal(asked)
    with open_curator(config) as curator:
        if explain:
            found = curator.explain(sql, **those_of(ExplainFields, asked))
            tell(found.to_json(), lambda: f"{found}\nNothing was spent.", json=json)
            return
        with waiting("Asking"):
            if asked["seed"] is not None:
                answer = curator.rehearse(sql, **those_of(RehearseFields, asked))
            else:
                answer = curator.query(sql, **those_of(QueryFields, asked))
        tell(answer.to_json(), lambda: answer_words(answer), json=json)
        if csv is not None:
            answer.to_csv(csv)
        if plot is not None:  # last, since some answers have nothing to draw
            answer.plot().save(plot)


def _check_places(plot: Path | None, csv: Path | None) -> None:
    """Refuse files that cannot be written, before the answer is paid."""
    if plot is None and csv is None:
        return
    from discreet.base.answer import check_chart
    from discreet.show.document import check_target

    if plot is not None:
        check_target(check_chart(plot))
    if csv is not None:
        check_target(csv, apart=[plot])


def _check_rehearsal(asked: dict[str, Any]) -> None:
    """Refuse what has no meaning in a rehearsal: it is nobody's, and nothing of it is kept."""
    ignored = {"analyst": "--as", "request_id": "--request-id", "fresh": "--fresh"}
    for option in (option for name, option in ignored.items() if asked[name]):
        raise InvalidInput(
            f"A rehearsal knows no {option}: it is charged to nobody, and no answer is kept or reused.",
            hint="Leave it out; the same seed gives the same answer to everybody.",
        )


def answer_words(answer: Any) -> str:
    """Return the table, and below it what the reader should know."""
    return "\n".join([str(answer), *answer.provenance.notes])


@with_options(BoundsFields, leave=("table",))
def bounds(
    table: Annotated[str, typer.Argument(help=request_fields(BoundsFields)["table"].help)],
    *,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the price; spend nothing.")
    ] = False,
    json: Json = False,
    config: Config = None,
    **asked: Any,
) -> None:
    """Show how many rows each max_rows leaves out, beside the noise; charged like any question.

    From then on every answer about the table says what its bound leaves out.

    Example: discreet bounds visits --epsilon 0.1
    """
    from discreet.curator import open as open_curator

    with open_curator(config) as curator:
        if explain:
            said = curator.explain_bounds(table, **asked)
            tell(said.to_json(), said.bill.foreseen_words, json=json)
            return
        with waiting("Asking"):
            found = curator.bounds(table, **asked)
    tell(
        found.to_json(),
        lambda: "\n".join([*trade_words(found.to_json()), found.answer.bill.paid_words()]),
        json=json,
    )


def trade_words(found: dict[str, Any]) -> list[str]:
    """Return one line a bound: rows left out with their interval, and the noise."""
    at = f"{found['noise_epsilon']:g}"
    lines = [
        f"{visible(found['table'])}: rows left out by a bound, at 95%, beside the noise of COUNT(*) at epsilon {at}",
        f"{'max_rows':>10}{'left out':>14}{'between':>26}{'noise ±':>12}",
    ]
    for each in found["bounds"]:
        between = f"{each['lost_low']:,} and {each['lost_high']:,}"
        if each["people_beyond"] and not each["lost_high"]:
            between = f"but for {each['people_beyond']:,} people"
        mark = "  declared" if each["max_rows"] == found["max_rows"] else ""
        mark += "  least error of a count" if each["max_rows"] == found["best"] else ""
        lines.append(
            f"{each['max_rows']:>10,}{each['lost']:>14,}{between:>26}{each['noise']:>12,.4g}{mark}"
        )
    last = found["bounds"][0]
    if last["people_beyond"]:
        lines.append(
            f"Up to {last['people_beyond']:,} people may have more than {last['up_to']:,} rows; what they lose is in no line."
        )
    return lines
