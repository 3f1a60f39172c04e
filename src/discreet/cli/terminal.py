"""The one way to the terminal: nothing that others wrote can steer it."""

from __future__ import annotations

import sys

from discreet.core.visible import visible


def say(words: str, *, to_errors: bool = False, flush: bool = False) -> None:
    """Print `words`; of all that is not for reading only line breaks pass.

    Guarantee: aliases, notes, labels, names and values cannot move the cursor, erase or recolour.
        A part that could hold line breaks of its own is made `visible` where the line is put together.
    """
    file = sys.stderr if to_errors else sys.stdout
    print(visible(words, keep="\n"), file=file, flush=flush)
