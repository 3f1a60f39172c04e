"""`discreet bounds`: what each max_rows leaves out beside its noise, from a small paid look."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli.options import Config, Json
from discreet.cli.request_options import with_options
from discreet.cli.terminal import tell
from discreet.cli.waiting import waiting
from discreet.core.escape_text import visible
from discreet.core.requests.look import BoundsFields
from discreet.core.requests.request_fields import request_fields


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
    from discreet.api import open as open_curator

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
