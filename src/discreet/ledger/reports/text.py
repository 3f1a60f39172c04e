"""The state of the budgets, as the object that `--json` prints and as text for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.core.escape_text import visible
from discreet.core.numbers import counted, plain
from discreet.core.region import Region
from discreet.ledger.entry import Entry, SpentSoFar
from discreet.ledger.ledger import Ledger
from discreet.ledger.reports.report import amounts, ending
from discreet.ledger.versions import BEGAN

WIDTH = 40
"""Characters of the gauge."""

Describe: TypeAlias = Callable[[Region], str]
"""What puts a region in plain words; the catalog knows how."""


def budget_report(
    ledger: Ledger, datasets: Mapping[str, str], *, describe: Describe
) -> dict[str, Any]:
    """Return what `discreet budget --json` prints; `datasets` maps each to the budget that pays."""
    report: dict[str, Any] = {}
    for name, budget in datasets.items():
        spent = ledger.spent(budget)
        report[name] = {
            **amounts(spent),
            "worst_region": describe(spent.worst),
            "budget": budget,
            "exposures": len(ledger.exposures(name)),
            "exposed": list(ledger.exposed(name) or ()),
        }
    return {"datasets": report}


def budget_words(
    ledger: Ledger,
    datasets: Mapping[str, str],
    *,
    describe: Describe,
    last: int,
    notes: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return the report for people: a gauge, `notes` by dataset, the most exposed group, the history."""
    notes = notes or {}
    parts = []
    for name, budget in datasets.items():
        spent = ledger.spent(budget)
        lines = [_title(name, budget), *_gauge(spent), *notes.get(name, ())]
        if spent.charges:
            lines.append(f"  most exposed: {visible(describe(spent.worst))}")
        exposures = ledger.exposures(name)
        if exposures:
            lines.append(
                f"  {counted(len(exposures), 'release')} without any guarantee, see the history"
            )
            lines += [f"  exposed: {visible(', '.join(ledger.exposed(name) or ()))}"]
        entries = ledger.history(budget, last=last)
        if entries:
            lines.append("  history, latest last:")
        lines.extend(f"    {_line(entry)}{_ending(ledger, entry)}" for entry in entries)
        parts.append("\n".join(lines))
    return "\n\n".join(parts) or "No dataset is declared yet."


def exposure_note(ledger: Ledger, dataset: str) -> str | None:
    """Return the sentence that every later release from an exposed dataset carries."""
    columns = ledger.exposed(dataset)
    if columns is None:
        return None
    which = f"the columns {', '.join(columns)}" if columns else "some columns"
    return (
        f"Outside the budget: {which} of '{dataset}' have left it without any guarantee, in an "
        "anonymized copy or the like. What is promised here does not cover that release."
    )


def _title(name: str, budget_name: str) -> str:
    name, budget_name = visible(name), visible(budget_name)
    return name if name == budget_name else f"{name} (paid from the budget '{budget_name}')"


def _gauge(spent: SpentSoFar) -> list[str]:
    share = min(1.0, float(spent.epsilon / spent.limit_epsilon))
    filled = round(share * WIDTH)
    bar = "#" * filled + "." * (WIDTH - filled)
    amounts = f"epsilon {plain(spent.epsilon)} of {plain(spent.limit_epsilon)} spent"
    lines = [f"  [{bar}] {amounts}, {plain(spent.left)} left, {counted(spent.charges, 'charge')}"]
    if spent.limit_delta:
        lines.append(f"  delta {plain(spent.delta)} of {plain(spent.limit_delta)} spent")
    return lines


def _line(entry: Entry) -> str:
    data = entry.data
    when = entry.time[:19].replace("T", " ")
    match entry.kind:
        case "charge":
            who = data["analyst"] or "owner"
            asked = data["note"] or data["question"] or data["event"]
            epsilon = data["cost"]["epsilon"]
            text = f"{who} paid epsilon {_short(epsilon)} on {data['dataset']}: {asked}"
        case "limit":
            whose = f"share of {data['analyst']}" if data["analyst"] else "limit"
            text = (
                f"{data['who']} changed the {whose}: {_limit(data['old'])} to {_limit(data['new'])}"
            )
        case "snapshot":
            text = f"a new version of {data['table']} was seen"
        case "version":
            text = f"version {data['number']} of {data['group']} began: {BEGAN[data['why']]}"
        case "release":
            text = f"{data['who']}: release {data['release']} is now {data['state']}"
        case "exposure" | "look":
            word = "without guarantee" if entry.kind == "exposure" else "the owner looked"
            text = f"{word}: {data['reason']}"
        case "restore":
            text = f"{data['who']} restored a backup: {data['reason']}"
        case "clear":
            text = f"{data['who']} let a question be asked again that had failed: {data['reason']}"
        case "genesis":
            text = "the ledger begins"
        case _:
            text = entry.kind
    return f"{when}  {visible(' '.join(text.split())[:120])}"


def _ending(ledger: Ledger, entry: Entry) -> str:
    said = ending(ledger, entry) if entry.kind == "charge" else ""
    return f" ({said})" if said else ""


def _short(epsilon: str | None) -> str:
    return "without bound" if epsilon is None else plain(Fraction(epsilon))


def _limit(limit: Mapping[str, str] | None) -> str:
    return "none" if limit is None else f"epsilon {_short(limit['epsilon'])}"
