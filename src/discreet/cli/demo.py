"""`discreet demo`: the made-up town, loaded and asked, in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

QUESTION = "SELECT sex, COUNT(*) AS n, AVG(age) AS mean_age FROM people GROUP BY sex"
EPSILON = "0.1"


def demo(
    *,
    people: Annotated[int, typer.Option(min=1000, help="How many people live there.")] = 20_000,
    folder: Annotated[
        Path | None, typer.Option(help="Where the town is kept; under your home otherwise.")
    ] = None,
) -> None:
    """Make the example town once, ask it a first question, and say what to try next.

    Example: discreet demo
    """
    from discreet.api import open as open_curator
    from discreet.cli.query import answer_words
    from discreet.cli.waiting import waiting
    from discreet.errors import BudgetExceeded
    from discreet.examples import town

    home = folder or Path.home() / ".local" / "share" / "discreet" / "town"
    with waiting("Building the town"):
        made = town(people=people, folder=home)
    with open_curator(made.toml) as curator:
        print(f"A made-up town of {people:,} people: {home}\n")
        print(f"$ discreet query {QUESTION!r} --epsilon {EPSILON}\n")
        try:
            with waiting("Asking"):
                print(answer_words(curator.query(QUESTION, epsilon=EPSILON)))
        except BudgetExceeded as error:
            print(error)
    print(
        f"\nNow ask your own:\n"
        f'  discreet query "SELECT region, COUNT(*) AS n FROM people WHERE age >= 65 GROUP BY '
        f'region" --epsilon 0.1 --config {made.toml}\n'
        f"  discreet budget --config {made.toml}"
    )
