"""Reports of a ledger: budgets and history as JSON and as text, and the releases that its history records.

What one caller may see of budgets and history, as plain values; the state of the budgets, as the object that `--json`
prints and as text for people; every change of a release's state, which is a line of the chain.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.base.bill import name_of
from discreet.base.display import visible
from discreet.base.event import Region
from discreet.base.numbers import counted, plain
from discreet.privacy.ledger.accounts import BEGAN
from discreet.privacy.ledger.entry import (
    AccountState,
    Entry,
    Link,
    Receipt,
    SpentSoFar,
    checked_name,
    checked_text,
)
from discreet.privacy.ledger.ledger import Ledger


def share_report(
    ledger: Ledger, datasets: Mapping[str, str], analyst: str | None
) -> dict[str, Any]:
    """Return the limit and the spending of one analyst (None: of the whole budget) by dataset.

    `datasets` maps each to the budget that pays. Who is most exposed is left out: it tells what
    others asked.
    """
    return {
        "datasets": {
            name: amounts(ledger.spent(budget, analyst)) | {"budget": budget}
            for name, budget in datasets.items()
        }
    }


def amounts(spent: SpentSoFar) -> dict[str, Any]:
    """Return limit, spent and left, and the number of charges."""
    return {
        "epsilon": _amount(spent.limit_epsilon, spent.epsilon),
        "delta": _amount(spent.limit_delta, spent.delta),
        "charges": spent.charges,
    }


def _amount(limit: Fraction, spent: Fraction) -> dict[str, float]:
    return {
        "limit": float(limit),
        "spent": float(spent),
        "left": float(max(Fraction(0), limit - spent)),
    }


def history_report(
    ledger: Ledger, *, last: int, analysts: Collection[str | None] | None = None
) -> list[dict[str, Any]]:
    """Return the last entries, latest first: the charges of `analysts`, or everything if None.

    An analyst's charges are numbered among themselves: places in the ledger count others' charges.
    """
    if analysts is None:
        return [_entry(ledger, entry) for entry in reversed(ledger.history(last=last))]
    found = ledger.charges(analysts, last=last)
    first = ledger.count(analysts) - len(found)
    return [
        _entry(ledger, entry) | {"position": first + number}
        for number, entry in reversed(list(enumerate(found)))
    ]


def question_report(ledger: Ledger, request_id: str, analyst: str | None) -> dict[str, Any] | None:
    """Return what was asked under a request id: its words, price, time and who asked."""
    entry = ledger.charge_of(analyst, request_id)
    if entry is None:
        return None
    data = entry.data
    epsilon = data["cost"]["epsilon"]
    return {
        "sql": data.get("note", ""),
        "epsilon": None if epsilon is None else float(Fraction(epsilon)),
        "analyst": data["analyst"],
        "asker": data.get("asker") or name_of(data["analyst"]),
        "dataset": data["dataset"],
        "time": entry.time,
    }


def standing(ledger: Ledger, entry: Entry) -> str:
    """Return what has become of a charge: answered, failed, lost, running, or paid and not begun."""
    outcome = ledger.outcomes.state(entry.position)
    if outcome is None:
        return "paid"
    if outcome.state is not AccountState.BEGUN:
        return str(outcome.state.value)
    # 0.1.0 entered no outcomes: there it is answered if there is an answer.
    if ledger.stored_answer(entry.data["request_id"], entry.data["analyst"]) is not None:
        return str(AccountState.ANSWERED.value)
    return "running" if ledger.outcomes.alive(entry.position) else AccountState.LOST.value


def standing_of(ledger: Ledger, analyst: str | None, request_id: str) -> str | None:
    """Return what has become of this analyst's request, as `standing` says it; None: not charged."""
    found = ledger.charge_of(analyst, request_id)
    return None if found is None else standing(ledger, found)


def ending(ledger: Ledger, entry: Entry) -> str:
    """Return what people must know of a charge that has no answer; nothing for one that has."""
    return _ENDINGS.get(standing(ledger, entry), "")


_ENDINGS = {
    "paid": "paid, not delivered: ask again under the same request id",
    "running": "paid, in work",
    "failed": "paid, failed",
    "lost": "paid, not delivered: lost",
}


def _entry(ledger: Ledger, entry: Entry) -> dict[str, Any]:
    data = entry.data
    said: dict[str, Any] = {"position": entry.position, "kind": entry.kind, "time": entry.time}
    match entry.kind:
        case "charge":
            epsilon = data["cost"]["epsilon"]
            said |= {
                "analyst": data["analyst"],
                "asker": data.get("asker") or name_of(data["analyst"]),
                "dataset": data["dataset"],
                "sql": data["note"],
                "epsilon": None if epsilon is None else float(Fraction(epsilon)),
                "request_id": data["request_id"],
                "snapshot": data["snapshot"],
                "outcome": standing(ledger, entry),
                "ending": ending(ledger, entry),
            }
        case "limit":
            said |= {name: data[name] for name in ("who", "budget", "analyst", "old", "new")}
        case "exposure" | "look":
            said |= {name: data[name] for name in ("dataset", "reason", "columns")}
        case "release":
            said |= {name: data[name] for name in ("dataset", "release", "state", "who", "note")}
        case "restore" | "clear":
            said |= {name: data[name] for name in ("who", "reason")}
    return said


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


KIND = "release"


def record_state(
    ledger: Ledger, *, dataset: str, release: str, state: str, who: str, digest: str, note: str = ""
) -> None:
    """Write down, durably, that a release is now in `state`; `digest` is that of its spec."""
    checked_name(release, name="release")
    checked_name(who, name="who")
    data = {
        "dataset": dataset,
        "release": release,
        "state": state,
        "who": who,
        "digest": digest,
        "note": checked_text(note, name="note"),
    }
    with ledger.session() as session:
        session.append(KIND, data)


def states_of(ledger: Ledger, release: str | None = None) -> list[Entry]:
    """Return every change of state of one release, or of all, oldest first."""
    return [
        entry
        for entry in ledger.history()
        if entry.kind == KIND and (release is None or entry.data["release"] == release)
    ]


def excerpt_of(ledger: Ledger, receipt: Receipt, release: str) -> dict[str, Any]:
    """Return the lines of the history about one release: its states and its charge, as stored."""
    links = [
        item
        for item in ledger.links(start=0)
        if item.position == receipt.position or _is_about(item, release)
    ]
    links = [item for item in links if item.position <= receipt.position]
    return {
        "charge": receipt.position,
        "head": links[-1].hash,
        "links": [asdict(item) for item in links],
    }


def _is_about(item: Link, release: str) -> bool:
    return item.kind == KIND and Entry.of(item).data["release"] == release
