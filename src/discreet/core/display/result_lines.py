"""What people read of each result: made from its JSON, so that it is the same here and from a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from discreet.core.display.lines import ShownLines

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
