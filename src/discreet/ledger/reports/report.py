"""What one caller may see of the budgets and of the history, as plain values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from discreet.core.owner import name_of
from discreet.ledger.entry import Entry, SpentSoFar
from discreet.ledger.idempotency.states import AccountState
from discreet.ledger.ledger import Ledger


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
