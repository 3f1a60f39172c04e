"""What people see of work: its progress, and its results as a few lines, in a terminal and in a notebook.

Results are made from their JSON alone, so that they look the same here and from a server. What is shown was paid for
or is public: no rows, and no line longer than a person reads. A budget report is plain values, as JSON has them, that
also show themselves. Text that others wrote is made safe to show: what would steer a terminal is shown as an escape.
Steps of progress are public numbers, never what was found.
"""

from __future__ import annotations

import html
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

_STEERS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control characters (C0, DEL, C1), formats (among them all that change the direction), halves of
pairs, and the separators of lines and paragraphs."""

_JOINERS = frozenset("\u200c\u200d")
"""Formats that are part of how words are written; they move nothing."""


def visible(text: str, *, keep: str = "") -> str:
    r"""Return `text` in one line, with an escape for each character that is not for reading.

    `keep` are characters that pass all the same, such as the line breaks of a whole table.

    Guarantee: what is returned holds no control character, no change of direction and no line break
        that is not in `keep`, so it neither moves a cursor nor hides, forges or reorders text.

    >>> visible("n\x1b[2J\u202e\n")
    'n\\x1b[2J\\u202e\\n'
    """
    if text.isprintable():
        return text
    return "".join(_shown(letter, keep) for letter in text)


def _shown(letter: str, keep: str) -> str:
    if letter in keep or letter in _JOINERS or unicodedata.category(letter) not in _STEERS:
        return letter
    return letter.encode("unicode_escape").decode("ascii")


ShownLines: TypeAlias = Sequence[tuple[str, str]]
"""A name and what is said under it, in each line."""
LONGEST = 240
"""Characters of a line."""
MOST = 16
"""Lines; the rest is counted."""


class ShownInLines(ABC):
    """Prints as its `lines`, and is a table in a notebook."""

    __slots__ = ()

    @abstractmethod
    def lines(self) -> ShownLines:
        """Return what a person reads: a name and a sentence in each line."""

    def __repr__(self) -> str:
        return lines_text(shortened(self.lines()))

    def _repr_html_(self) -> str:
        return lines_html(shortened(self.lines()))


def shortened(lines: ShownLines) -> ShownLines:
    """Return at most `MOST` lines of at most `LONGEST` characters, control characters made visible."""
    kept = [(_cut(visible(name), 60), _cut(visible(said), LONGEST)) for name, said in lines[:MOST]]
    more = len(lines) - len(kept)
    return [*kept, ("...", f"{more:,} more")] if more else kept


def lines_text(lines: ShownLines) -> str:
    """Return lines with their names in front of them."""
    return "\n".join(f"{name:<12} {said}" for name, said in lines)


def lines_html(lines: ShownLines) -> str:
    """Return lines as a table for a notebook; every text in it is escaped."""
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(said)}</td></tr>" for name, said in lines
    )
    return f"<table>{rows}</table>"


def framed_page(page: str) -> str:
    """Return a whole HTML page for a notebook: inside a frame in which nothing runs."""
    shown = html.escape(page)
    return f'<iframe sandbox="" srcdoc="{shown}" width="100%" height="600"></iframe>'


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


class BudgetReport(ShownInLines, dict[str, Any]):
    """The mapping of a budget report; prints a line for each dataset.

    >>> spent = {"epsilon": {"limit": 4.0, "spent": 1.0, "left": 3.0}, "charges": 2}
    >>> BudgetReport(datasets={"census": spent})
    census       epsilon 1 of 4 spent, 3 left; charges 2
    """

    __slots__ = ()

    def lines(self) -> ShownLines:
        """Return a line for each dataset, and one for each whose columns left it without a guarantee."""
        found = []
        for name, facts in self["datasets"].items():
            epsilon = facts["epsilon"]
            said = (
                f"epsilon {epsilon['spent']:.6g} of {epsilon['limit']:.6g} spent, "
                f"{epsilon['left']:.6g} left; charges {facts['charges']}"
            )
            alert = facts.get("alert")
            found.append((name, said if alert is None else f"{said}; {alert}"))
            if facts.get("exposures"):
                found.append((name, f"releases without a guarantee: {facts['exposures']}"))
        return found or [("budget", "no dataset is declared yet")]


Facts: TypeAlias = Mapping[str, Any]


def synthetic_lines(facts: Facts) -> ShownLines:
    """Return the lines of a synthetic copy; never its rows."""
    shown = f"{facts['rows']:,} rows x {len(facts['columns'])} columns"
    return [("synthetic", f"{shown}, method {facts['method']}"), *_ending(facts)]


def linked_lines(facts: Facts) -> ShownLines:
    """Return the lines of copies of linked tables."""
    tables = ", ".join(f"{name} {each['rows']:,}" for name, each in facts["tables"].items())
    return [("synthetic", f"linked tables (rows: {tables})"), *_ending(facts)]


def classifier_lines(facts: Facts) -> ShownLines:
    """Return the lines of a trained classifier."""
    right = facts["accuracy"]
    said = f"{facts['model']} for {facts['target']}"
    said += f", accuracy {right['value']:.3f}" if right else ""
    return [("classifier", said), *_ending(facts)]


def regression_lines(facts: Facts) -> ShownLines:
    """Return the lines of a regression."""
    off = "" if facts["rmse"] is None else f", off by {facts['rmse']:.4g}"
    return [("regression", f"{facts['model']} for {facts['target']}{off}"), *_ending(facts)]


def recommender_lines(facts: Facts) -> ShownLines:
    """Return the lines of a recommender."""
    said = f"{facts['items']:,} items, {facts['known_well']:,} of them known well"
    return [("recommender", said), *_ending(facts)]


def choice_lines(facts: Facts) -> ShownLines:
    """Return the lines of a private choice."""
    below = f"at most {facts['loss95']:.3g} below the best (95%)"
    return [("choice", f"{facts['choice']} of {facts['candidates']:,}, {below}"), *_ending(facts)]


def bounds_lines(facts: Facts) -> ShownLines:
    """Return the lines of a look at what each bound on rows leaves out."""
    declared = "none" if facts["max_rows"] is None else f"{facts['max_rows']:,}"
    said = f"max_rows of {facts['table']}: {facts['best']:,} is off least, {declared} is declared"
    uses = f"{_price(facts['cost'])}; leaves {facts['left']:.6g}"
    return [("bounds", said), ("uses", "nothing" if facts["free"] else uses)]


def anonymized_lines(facts: Facts) -> ShownLines:
    """Return the lines of a k-anonymous copy; never its rows."""
    left_out = f"{facts['suppressed']:,} of {facts['rows']:,} rows left out"
    said = f"k = {facts['k']}, {facts['classes']:,} classes, {left_out}"
    missing = [("columns left out", ", ".join(facts["redacted"]))] if facts["redacted"] else []
    return [("anonymized", said), *missing, ("guarantee", str(facts["says"])), *_notes(facts)]


def publication_lines(facts: Facts) -> ShownLines:
    """Return the lines of a released package."""
    tables = ", ".join(f"{name} {each['rows']:,}" for name, each in facts["tables"].items())
    written = [("written to", str(facts["out"]))] if facts["out"] else []
    return [("release", f"{facts['release']} (rows: {tables})"), *written, *_ending(facts)]


def rehearsal_lines(facts: Facts) -> ShownLines:
    """Return the lines of a rehearsed release."""
    cost = facts["cost"]
    tables = [
        (name, f"{each['rows']:,} cells, off by {each['error']['whole']:.4g} (root mean square)")
        for name, each in facts["tables"].items()
    ]
    head = ("rehearsal", f"{facts['release']}, on made-up rows: nothing was spent")
    return [head, ("would use", _price(cost)), *tables, *_notes(facts)]


def totals_lines(facts: Facts) -> ShownLines:
    """Return the lines of running totals: the latest day alone."""
    uses = "nothing" if facts["free"] else _price(facts["cost"])
    last = "no day yet"
    if facts["days"]:
        last = f"{facts['days'][-1]}: {facts['totals'][-1]:,.6g} ± {facts['error95'][-1]:,.4g}"
    said = (facts["series"], f"{len(facts['days']):,} days, {last}")
    return [said, ("uses", uses), *_notes(facts)]


def _ending(facts: Facts) -> ShownLines:
    uses = "nothing" if facts["free"] else _price(facts["cost"])
    budget = facts.get("budget")
    if budget is not None:
        limit, after = budget["limit"]["epsilon"], budget["after"]["epsilon"]
        uses += f"; leaves {max(limit - after, 0):.6g} of {limit:.6g}"
    return [("uses", uses), *_notes(facts)]


def _price(cost: Facts) -> str:
    delta = f", delta {cost['delta']:.6g}" if cost["delta"] else ""
    return f"epsilon {cost['epsilon']:.6g}{delta}"


def _notes(facts: Facts) -> list[tuple[str, str]]:
    return [("note", str(each)) for each in facts.get("notices", ())]


Progress: TypeAlias = Callable[[int, int, str], None]
"""Told (done, of, what)."""


def silent(_done: int, _of: int, _what: str) -> None:
    """Tell nobody."""
