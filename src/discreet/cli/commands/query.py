"""`discreet query`: ask in SQL, get a private answer with its error and its price."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.terminal import say
from discreet.core.visible import visible


def query(
    sql: Annotated[str, typer.Argument(help="One SELECT statement with aggregates.")],
    *,
    epsilon: Annotated[str | None, typer.Option(help="How much budget to use.")] = None,
    within: Annotated[
        str | None, typer.Option(help="The greatest noise of any cell at 95%, such as 50.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show plan, price and error; spend nothing.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Never reuse paid answers.")] = False,
    analyst: Annotated[str | None, typer.Option("--as", help="The analyst who asks.")] = None,
    request_id: Annotated[
        str | None, typer.Option(help="Ask again under the same id: same answer, no charge.")
    ] = None,
    max_rows: Annotated[
        int | None, typer.Option(help="At most this many rows of one person count.")
    ] = None,
    group_size: Annotated[
        int | None, typer.Option(help="With --explain: the noise of a mean of so many rows.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw the answer: .svg, .png, .html or .json.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Also write the answer as CSV.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    config: Annotated[
        Path | None, typer.Option(help="The discreet.toml to use, if not in this folder.")
    ] = None,
) -> None:
    """Answer one SQL question privately, charging the budget first.

    Example: discreet query "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex" --epsilon 0.5
    """
    from discreet.api import open as open_curator
    from discreet.cli.waiting import waiting

    with open_curator(config) as curator:
        if explain:
            found = curator.explain(
                sql,
                epsilon=epsilon,
                within=within,
                analyst=analyst,
                fresh=fresh,
                max_rows=max_rows,
                group_size=group_size,
            )
            say(json_text.dumps(found.to_json()) if json else explanation_words(found))
            return
        with waiting("Asking"):
            answer = curator.query(
                sql,
                epsilon=epsilon,
                within=within,
                analyst=analyst,
                request_id=request_id,
                fresh=fresh,
                max_rows=max_rows,
            )
        if plot is not None:
            answer.plot().save(plot)
        if csv is not None:
            answer.to_csv(csv)
        say(json_text.dumps(answer.to_json()) if json else answer_words(answer))


def answer_words(answer: Any) -> str:
    """Return the table, and below it what the reader should know."""
    return "\n".join([str(answer), *answer.provenance.notes])


def explanation_words(found: Any) -> str:
    """Return an explanation for a terminal."""
    errors = [
        f"  {visible(name)}: ± {half:,g} (95%)"
        if half is not None
        else f"  {visible(name)}: depends on the data; shown with the answer"
        for name, half in found.expected_error.items()
    ]
    lines = [
        "Expected noise:",
        *errors,
        *(f"  {words}" for _, words in ([] if found.stated is None else found.stated.lines())),
        "Mechanisms:",
        *(f"  {visible(line)}" for line in found.mechanisms),
        f"Touches: {found.region}",
        price_words(found),
        "Nothing was spent.",
        *found.notes,
        "The engine would run:",
        *(f"  {line}" for line in found.sql.splitlines()),
    ]
    return "\n".join(lines)


def price_words(found: Any) -> str:
    """Return what a question would use and leave, for the person who is hit worst by all of them."""
    used, limit = float(found.cost.epsilon), float(found.limit.epsilon)
    left = float(found.limit.epsilon - found.after.epsilon)
    if left < 0:
        return f"Would use {used:g}: more than is left of {limit:g} for the people it asks about."
    return f"Would use {used:g}, leaving {left:g} of {limit:g}."
