"""The one way to the terminal: nothing that others wrote can steer it."""

from __future__ import annotations

import json as json_text
import os
import sys
from collections.abc import Callable
from typing import Any

from discreet.base.bill import Bill, Spent, price_words
from discreet.base.display import visible

_PLAIN = str.maketrans(
    {
        "±": "+/-",
        "…": "...",
        "─": "-",
        "│": "|",
        "┼": "+",
        "├": "+",
        "┤": "+",
        "·": ".",
        "ε": "epsilon",
        "δ": "delta",
        "\u00d7": "x",
        "≥": ">=",
        "≤": "<=",
        "→": "->",
        "\u2212": "-",
        "█": "#",
        "▓": "#",
        "░": ".",
        "“": '"',
        "”": '"',
        "\u2018": "'",
        "\u2019": "'",
        "\u2013": "-",
        "\u2014": "-",
        "✓": "ok",
        "•": "*",
        "\u00a0": " ",
        "\u202f": " ",
    }
)
"""What we write ourselves, for terminals that know ASCII only."""


def say(words: str, *, to_errors: bool = False) -> None:
    """Print `words`; of all that is not for reading only line breaks pass.

    Guarantee: aliases, notes, labels, names and values cannot move the cursor, erase or recolour.
        A part that could hold line breaks of its own is made `visible` where the line is put together.
    """
    file = sys.stderr if to_errors else sys.stdout
    encoding = getattr(file, "encoding", None) or "utf-8"
    try:
        print(spelled(visible(words, keep="\n"), encoding), file=file, flush=True)
    except BrokenPipeError:
        # `discreet ... | head` has seen enough; the command itself goes on to its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), file.fileno())


def tell(found: Any, words: str | Callable[[], str], *, json: bool) -> None:
    """Print what a command found: as one JSON object, or in words."""
    if json:
        say(json_text.dumps(found))
    else:
        say(words if isinstance(words, str) else words())


def price_said(found: Any) -> str:
    """Return the price of what was made, from its JSON."""
    return price_words(Spent.from_json(found["cost"]), free=found["free"])


def budget_said(found: Any) -> str:
    """Return what is left of the budget of what was made, from its JSON."""
    return Bill.from_json(found).left_words()


def spelled(words: str, encoding: str) -> str:
    """Return `words` as a terminal of this encoding can show them; what it lacks gets plain letters.

    >>> spelled("n ± 5 ──", "ascii")
    'n +/- 5 --'
    """
    try:
        words.encode(encoding)
    except UnicodeEncodeError:
        plain = words.translate(_PLAIN)
        return plain.encode(encoding, "backslashreplace").decode(encoding)
    return words
