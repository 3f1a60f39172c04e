"""What is said about anonymized tables: in plain words, and as the report of a copy (what was done, what remains, what breaks it)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.anonymize.diversity import Diversity
from discreet.anonymize.risk import NO_GUARANTEE, THRESHOLD, ClassSizes, IntruderRisk, MeasuredTable
from discreet.anonymize.run import Anonymized
from discreet.show import Document, DocumentBlock, Figure, Grid, Paragraph, Section, pairs

WARNING = "Not a guarantee: this copy is anonymized, not private."
_BINS = (1, 2, 3, 5, 10, 20, 50, 100, 500)


def document(made: Anonymized) -> Document:
    """Return the report. It tells of class sizes and shares, never of a single row."""
    result = made.result
    return Document(
        f"Anonymized copy of {made.label}",
        f"{made.table.num_rows:,} of {result.rows:,} rows, {result.classes:,} classes, "
        f"method {result.method.value}",
        WARNING,
        (_opening(made), _coarsened(made), _why(made), _sizes(made), _risk(made), _remains(made)),
    )


def _opening(made: Anonymized) -> Section:
    result = made.result
    said = (
        f"In this copy {result.conditions}. {result.suppressed:,} of {result.rows:,} rows "
        f"({percent(result.suppressed / result.rows)}) were left out to get there."
    )
    return Section(
        "What this is",
        (
            Paragraph(said),
            Paragraph(
                "It helps against somebody who knows exactly the columns below about a person and "
                "sees this one copy. Against anybody who knows more, or sees another release about "
                "the same people, it promises nothing.",
                warning=True,
            ),
            Paragraph(LEGACY),
        ),
    )


def _coarsened(made: Anonymized) -> Section:
    result = made.result
    rows = []
    for place, name in enumerate(result.quasi):
        used = len(np.unique(result.recoding.cells[place])) if result.classes else 0
        level = None if result.levels is None else result.levels[name]
        how = "as it was" if level == 0 else "by class" if level is None else f"level {level}"
        rows.append((name, how, used))
    blocks: list[DocumentBlock] = [
        Grid.of(
            ("column", "coarsened to", "different labels left"),
            rows,
            "The quasi-identifiers: what others may know of a person.",
        )
    ]
    if made.left_out:
        blocks.append(Paragraph(f"Left out altogether: {left_out_words(made.left_out)}."))
    if made.kept:
        blocks.append(
            Paragraph(
                f"Published as they are: {', '.join(made.kept)}. Whoever knows one of these about "
                "a person knows more than this copy reckons with.",
                warning=True,
            )
        )
    return Section("What was coarsened", tuple(blocks))


def _why(made: Anonymized) -> Section:
    result = made.result
    cost = result.cost.value
    blocks: list[DocumentBlock] = [
        Paragraph(
            f"Of all copies that satisfy the conditions, the one with the least {cost} was wanted. "
            f"This one has {cost_words(made)}"
            + (f": {search_words(made)}." if result.levels is not None else ".")
        )
    ]
    if result.levels is None:
        blocks.append(
            Paragraph(
                f"The method '{result.method.value}' chooses labels class by class: it keeps more "
                "detail than one level for each column, and proves no optimum."
            )
        )
    if len(result.runners) > 1:
        best = result.runners[0].cost
        names = list(result.quasi)
        blocks.append(
            Grid.of(
                (*names, cost, "more than the best", "left out", "classes"),
                [
                    (
                        *(str(level) for level in each.levels),
                        float(each.cost),
                        each.cost / best - 1 if best else None,
                        each.lost,
                        each.classes,
                    )
                    for each in result.runners
                ],
                "Why this and not another: the chosen levels first, then the next best that "
                "satisfy the conditions.",
                shares=(len(names) + 1,),
            )
        )
    return Section("Why these levels", tuple(blocks))


def _sizes(made: Anonymized) -> Section:
    labels = [_bin(i) for i in range(len(_BINS))]
    spec = pairs(
        labels,
        _binned(made.before.sizes),
        _binned(made.after.sizes),
        names=("before", "after"),
        title="share of rows",
        across="rows that look alike",
    )
    smallest = made.after.sizes.k
    caption = (
        f"Before, {percent(made.before.sizes.share_unique)} of rows were unique. Afterwards every "
        f"row looks like at least {smallest - 1:,} others, {made.after.sizes.average:,.1f} rows to "
        "a class on average."
    )
    return Section(
        "How many rows look alike", (Figure("Rows by the size of their class", spec, caption),)
    )


def _bin(i: int) -> str:
    if i + 1 == len(_BINS):
        return f"{_BINS[i]:,}+"
    last = _BINS[i + 1] - 1
    return str(last) if last == _BINS[i] else f"{_BINS[i]}-{last}"


def _binned(sizes: ClassSizes) -> list[float]:
    place = np.searchsorted(np.asarray(_BINS), sizes.sizes, side="right") - 1
    held = np.bincount(place, weights=sizes.sizes * sizes.classes, minlength=len(_BINS))
    return [float(share) for share in held / max(1, sizes.rows)]


def _risk(made: Anonymized) -> Section:
    before, after = made.before.risk, made.after.risk
    rows = [
        ("prosecutor, on average", before.prosecutor.average, after.prosecutor.average),
        ("prosecutor, worst row", before.prosecutor.highest, after.prosecutor.highest),
        ("rows above one in five", before.prosecutor.rows_above, after.prosecutor.rows_above),
        ("journalist, on average", before.journalist.average, after.journalist.average),
        ("journalist, worst row", before.journalist.highest, after.journalist.highest),
        ("marketer", before.marketer, after.marketer),
        ("unique in the file", before.share_unique, after.share_unique),
        *(
            (f"unique in the population ({a.name}: {a.says})", a.share, b.share)
            for a, b in zip(before.population_uniques, after.population_uniques, strict=True)
        ),
    ]
    how = (
        "nobody said how many people there are, so the file was taken for one in a hundred"
        if before.assumed
        else "as stated"
    )
    return Section(
        "Risk before and after",
        (
            Grid.of(
                ("chance of naming the right row", "before", "after"),
                rows,
                "A prosecutor knows that the person is in the file, a journalist only that the "
                "person is in the population, a marketer matches everybody.",
                shares=(1, 2),
            ),
            Paragraph(f"The population: {before.population:,} people ({how}). {DISAGREE}"),
        ),
    )


def _remains(made: Anonymized) -> Section:
    blocks: list[DocumentBlock] = []
    for found in made.after.diversity:
        if found.homogeneous_classes:
            blocks.append(Paragraph(homogeneous_words(found), warning=True))
        else:
            blocks.append(
                Paragraph(
                    f"Every class has at least {found.distinct} different values of "
                    f"'{found.column}'. Background knowledge that rules some of them out still "
                    f"narrows it down, and a class may be {100 * found.t:.1f}% away from the whole "
                    "table (t-closeness)."
                )
            )
    if not made.after.diversity:
        blocks.append(
            Paragraph(
                "No sensitive column was named, so it was not measured whether all rows of a class "
                "share one value. Where they do, it is read off without naming a row: discreet "
                "attack intersection shows it. Name one with --sensitive.",
                warning=True,
            )
        )
    blocks.append(
        Paragraph(f"{BREAKS} Do not publish a second copy of the same people.", warning=True)
    )
    blocks += [Paragraph(notice, warning=True) for notice in made.notices]
    blocks.append(
        Paragraph(
            "That this copy left is written in the ledger of the data set: its columns are named "
            "beside the budget and in every later release."
        )
    )
    return Section("What remains, and what breaks it", tuple(blocks))


DISAGREE = (
    "The estimates disagree because each assumes another shape of what the file does not show; "
    "take the highest for safety, and none for a fact."
)
LEGACY = (
    "Anonymized tables are a legacy output: every further release about the same people weakens them. "
    "What a private table promises (discreet query, discreet synth) holds whatever comes later."
)
BREAKS = (
    "Two releases that are each k-anonymous pin a person down together: discreet attack "
    "intersection shows it."
)


def percent(share: float | None) -> str:
    """Return a share for people; small ones keep two digits."""
    if share is None:
        return "none found"
    if 0 < share < 0.0001:
        return "below 0.01%"
    return f"{100 * share:.2f}%" if share < 0.1 else f"{100 * share:.1f}%"


def measured_words(label: str, found: MeasuredTable) -> list[str]:
    """Return what --check says, line by line."""
    sizes = found.sizes
    known = ", ".join(found.quasi)
    return [
        f"{label}: {sizes.rows:,} rows, to an adversary who knows {known}",
        (
            f"  k = {sizes.k:,}: {sizes.count:,} classes, {sizes.average:,.1f} rows each on average; "
            f"{percent(sizes.share_unique)} of rows are unique"
        ),
        *(f"  {line}" for each in found.diversity for line in diversity_words(each)),
        *(f"  {line}" for line in risk_words(found.risk)),
        f"  {NO_GUARANTEE}",
    ]


def diversity_words(found: Diversity) -> list[str]:
    """Return l and t of one sensitive column."""
    ordered = "" if found.ordered_t is None else f" ({found.ordered_t:.3f} by order)"
    if found.hierarchical_t is not None:
        ordered += f" ({found.hierarchical_t:.3f} by hierarchy)"
    lines = [
        (
            f"{found.column}: l = {found.distinct} different values at least (as uncertain as "
            f"{found.entropy:.2f} equally likely ones), t = {found.t:.3f}{ordered}"
        )
    ]
    if found.homogeneous_classes:
        lines.append(homogeneous_words(found))
    return lines


def homogeneous_words(found: Diversity) -> str:
    """Return what the homogeneity attack gets, in the numbers of this very table."""
    return (
        f"In {percent(found.homogeneous_classes)} of the classes all rows have the same "
        f"'{found.column}': whoever finds a person's class there reads it off without naming a row, "
        f"for {percent(found.homogeneous_rows)} of all rows (discreet attack intersection)."
    )


def risk_words(risk: IntruderRisk) -> list[str]:
    """Return the risks, one line for each kind of adversary."""
    prosecutor, journalist = risk.prosecutor, risk.journalist
    how = "assumed, say --population" if risk.assumed else "as stated"
    guesses = ", ".join(f"{e.name} {percent(e.share)}" for e in risk.population_uniques)
    return [
        (
            f"who knows that a person is in the file (prosecutor) names the row with a chance of "
            f"{percent(prosecutor.average)}, at worst {percent(prosecutor.highest)}; "
            f"{percent(prosecutor.rows_above)} of rows are above {THRESHOLD:.0%}"
        ),
        (
            f"who knows a person of the population only (journalist): "
            f"{percent(journalist.average)}, at worst {percent(journalist.highest)}, by the "
            "mu-Argus rule"
        ),
        f"who matches everybody (marketer) gets {percent(risk.marketer)} right",
        f"unique in a population of {risk.population:,} ({how}): {guesses}. {DISAGREE}",
    ]


def made_words(made: Anonymized, out: str, report: str | None) -> list[str]:
    """Return what the terminal shows after a copy was written."""
    result, before, after = made.result, made.before.risk, made.after.risk
    lost = f", {result.suppressed:,} left out" if result.suppressed else ", none left out"
    lines = [
        (
            f"Wrote {made.table.num_rows:,} of {result.rows:,} rows to {out}{lost} "
            f"({made.seconds:.1f} s)."
        ),
        f"  {result.classes:,} classes; {result.conditions}",
    ]
    if result.levels is not None:
        levels = ", ".join(f"{name} {level}" for name, level in result.levels.items())
        lines.append(f"  levels: {levels} ({search_words(made)})")
    if made.kept:
        lines.append(f"  published as they are: {', '.join(made.kept)}")
    if made.left_out:
        lines.append(f"  columns left out: {left_out_words(made.left_out)}")
    lines += [
        f"  {result.cost.value}: {cost_words(made)}",
        (
            f"  a prosecutor is right {percent(before.prosecutor.average)} before, "
            f"{percent(after.prosecutor.average)} after (at worst "
            f"{percent(after.prosecutor.highest)})"
        ),
        *(f"  {line}" for each in made.after.diversity for line in diversity_words(each)),
        *(f"  {notice}" for notice in made.notices),
        f"  Report: {report}" if report else "",
        f"{NO_GUARANTEE} {BREAKS} The ledger remembers that these columns left.",
    ]
    return [line for line in lines if line]


def left_out_words(left_out: Mapping[str, str]) -> str:
    """Return which columns are not in the copy, and why, the same reasons together."""
    by_reason: dict[str, list[str]] = {}
    for name, why in left_out.items():
        by_reason.setdefault(why, []).append(name)
    return "; ".join(f"{', '.join(names)} ({why})" for why, names in by_reason.items())


def search_words(made: Anonymized) -> str:
    """Return how sure it is that nothing cheaper exists."""
    result = made.result
    if result.optimal:
        return f"the cheapest of {result.nodes:,} possible, proven"
    return f"the best of {result.evaluated:,} looked at, of {result.nodes:,} possible"


def cost_words(made: Anonymized) -> str:
    """Return the cost that was made small, as a number."""
    value = made.result.costs.shown[made.result.cost.shown]
    return "none" if value is None else f"{value:,.6g}" if value < 10**6 else f"{value:,.0f}"
