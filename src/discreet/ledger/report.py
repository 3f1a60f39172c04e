"""What one caller may see of the budgets and of the history, as plain values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from discreet.ledger.entry import Entry, Spent
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


def amounts(spent: Spent) -> dict[str, Any]:
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
    """Return the last entries, latest first: the charges of `analysts`, or everything if None."""
    found = ledger.history(last=last) if analysts is None else ledger.charges(analysts, last=last)
    return [_entry(entry) for entry in reversed(found)]


def _entry(entry: Entry) -> dict[str, Any]:
    data = entry.data
    said: dict[str, Any] = {"position": entry.position, "kind": entry.kind, "time": entry.time}
    match entry.kind:
        case "charge":
            epsilon = data["cost"]["epsilon"]
            said |= {
                "analyst": data["analyst"],
                "dataset": data["dataset"],
                "sql": data["note"],
                "epsilon": None if epsilon is None else float(Fraction(epsilon)),
                "request_id": data["request_id"],
                "snapshot": data["snapshot"],
            }
        case "limit":
            said |= {name: data[name] for name in ("who", "budget", "analyst", "old", "new")}
        case "exposure" | "look":
            said |= {name: data[name] for name in ("dataset", "reason", "columns")}
        case "restore":
            said |= {name: data[name] for name in ("who", "reason")}
    return said
