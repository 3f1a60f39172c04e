"""What is said about anonymized tables, in plain words: on the terminal, the page and in reports."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.anonymize.check import NO_GUARANTEE, MeasuredTable
from discreet.anonymize.privacy_models.measures import Diversity
from discreet.anonymize.risk.intruder import THRESHOLD, IntruderRisk
from discreet.anonymize.run import Anonymized

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
