"""Who asks for something of a bare file, and under which id: what was paid under it before is asked for again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from discreet.api import open as open_curator
from discreet.catalog.bare_file import BareTable
from discreet.catalog.policy_file import load
from discreet.core.cost import Cost
from discreet.core.owner import OWNER, require_named
from discreet.errors import UnknownName
from discreet.ledger.entry import Entry, checked_name


@dataclass(frozen=True, slots=True)
class AskedBy:
    """Whose share pays for what is asked, and the request id that it was given, if any."""

    analyst: str | None
    request_id: str | None

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Self | None:
        """Return who asks, if the fields of a request say so."""
        return cls(asked["analyst"], asked["request_id"] or None) if "analyst" in asked else None

    def check(self, config: Path) -> None:
        """Refuse an id or an analyst that the ledger would refuse, before anything is declared or paid."""
        if self.request_id is not None:
            checked_name(self.request_id, name="request id")
        known = load(config).analysts if config.is_file() else {}
        require_named(self.analyst, known)
        if self.analyst not in (None, OWNER, *known):
            raise UnknownName(
                f"There is no analyst '{self.analyst}'.",
                hint="Add them under [analysts] in discreet.toml.",
            )

    def check_share(self, bare: BareTable) -> None:
        """Refuse an analyst without a share in what pays for a table."""
        with open_curator(bare.config) as curator:
            budget = curator.catalog.datasets[bare.dataset].budget
            curator.ledger.spent(budget, curator.account_of(self.analyst))


@dataclass(frozen=True, slots=True)
class EarlierLooks:
    """What of a table was paid for before its copy: its types, its ranges; `all_paid`: the copy, too."""

    types: bool = False
    ranges: bool = False
    all_paid: bool = False


@dataclass(frozen=True, slots=True)
class LookPrices:
    """The whole epsilon that is asked for, what types take of it and cost, and what ranges do, if wanted."""

    whole: Fraction
    types_part: Fraction
    types: Fraction
    ranges: Fraction | None

    def left(self, looks: EarlierLooks) -> Fraction:
        """Return what is left of the whole after these looks."""
        ranges = self.ranges if looks.ranges and self.ranges is not None else Fraction(0)
        return self.whole - (self.types_part if looks.types else 0) - ranges


def earlier_looks(bare: BareTable, asker: AskedBy, prices: LookPrices) -> EarlierLooks:
    """Return which looks at a typed table were paid for by the request that is asked again.

    The table has types by now, so nothing but the ledger remembers that the first time only a part of
    epsilon was left. If the id was charged, its price says which looks came before it; if it was not,
    looks that are the last charges of the budget are those of a command that was ended between them.
    """
    assert asker.request_id is not None, "only what has a name can be asked again"
    with open_curator(bare.config) as curator:
        budget = curator.catalog.datasets[bare.dataset].budget
        own = curator.ledger.charge_of(curator.account_of(asker.analyst), asker.request_id)
        charges = [each for each in curator.ledger.history(budget) if each.kind == "charge"]
    if own is None:
        return _last_looks(bare, charges, prices)
    if own.kind != "charge" or own.data["dataset"] != bare.dataset:
        return EarlierLooks()
    paid = _epsilon(own)
    before = [each for each in charges if each.position < own.position]
    there = {
        "types": any(_is_look(each, "types", bare, prices.types) for each in before),
        "ranges": any(_is_look(each, "ranges", bare, prices.ranges) for each in before),
    }
    for types in sorted({False, there["types"]}):
        for ranges in sorted({False, there["ranges"]}):
            looks = EarlierLooks(types, ranges, all_paid=True)
            if prices.left(looks) == paid:
                return looks
    return EarlierLooks()


def _last_looks(bare: BareTable, charges: Sequence[Entry], prices: LookPrices) -> EarlierLooks:
    ranges = bool(charges) and _is_look(charges[-1], "ranges", bare, prices.ranges)
    rest = charges[:-1] if ranges else charges
    types = bool(rest) and _is_look(rest[-1], "types", bare, prices.types)
    return EarlierLooks(types, ranges)


def _is_look(entry: Entry, kind: str, bare: BareTable, price: Fraction | None) -> bool:
    named = entry.data["analyst"] is None
    named = named and entry.data["request_id"].startswith(f"{kind} {bare.table} ")
    return named and price is not None and _epsilon(entry) == price


def _epsilon(entry: Entry) -> Fraction | None:
    return Cost.from_json(entry.data["cost"]).epsilon
