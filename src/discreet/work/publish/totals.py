"""Running totals over time (continual counting): the total of every day, for little more noise than one day's count.

The horizon is charged at the start, then each day is looked at once. Summing is a triangle of ones, and has
a square root with the same shape: its entries are r(k) = C(2k, k) / 4^k. Each day measures the square
root's row with fresh noise; the square root once more turns measurements into totals. [note 0041;
Fichtenberger, Henzinger, Upadhyay, ICML 2023]
"""

from __future__ import annotations

import datetime as dt
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from discreet.ask.release.desk import Desk
from discreet.ask.release.paid import paid
from discreet.base import display
from discreet.base.arrays import Floats, Integers
from discreet.base.bill import Charged
from discreet.base.display import ShownInLines, ShownLines
from discreet.base.event import FREE, NOTHING, Gaussian, Quote, Region
from discreet.base.files import write_whole
from discreet.base.numbers import Delta, Epsilon
from discreet.base.requests.fields import checked
from discreet.base.requests.paid import TotalsFields
from discreet.base.unit import Neighbours
from discreet.data.catalog.axes import in_every_version, parse_axis
from discreet.data.engines.base import Held, PaidReader
from discreet.errors import InvalidInput
from discreet.privacy.account.batch import price_batch
from discreet.privacy.account.convert import rho_of_target
from discreet.privacy.ledger.charge import Charge
from discreet.privacy.ledger.entry import Receipt
from discreet.privacy.ledger.ledger import Ledger
from discreet.privacy.noise.additive import discrete_gaussian_squared
from discreet.privacy.noise.rng import Rng
from discreet.work.publish.assemble import Layout
from discreet.work.publish.measure import count_cells, member_cells
from discreet.work.publish.prepare import PlannedRelease, planned
from discreet.work.publish.specification import Spec, TableSpec

LATTICE = 1 << 16
"""Entries of the square root are measured as whole numbers of this fraction."""
LONGEST = 20_000
LARGEST_COUNT = 1 << 36
"""Larger counts of one day are cut to this, whatever the data: totals of weights stay whole."""
Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class RunningTotals:
    """A horizon of days, and the noise that pays for all of them when it is fixed.

    `weights` are the entries of the square root in whole steps of 1/LATTICE; `sigma_squared` is the
    variance of the noise on a measurement, in those steps.
    """

    days: int
    weights: tuple[int, ...]
    sigma_squared: Fraction
    neighbours: Neighbours

    @property
    def event(self) -> Gaussian:
        """Return what to tell the accountant, once, for the whole horizon.

        Guarantee: one row of one day moves the vector of all measurements by at most the weights,
            one after the other; the length of that is exact, because the weights are whole.
        """
        return Gaussian(self.sigma_squared, self.moved_squared, self.days * self.neighbours.moves)

    @property
    def moved_squared(self) -> Fraction:
        """Return the squared length by which a neighbour moves the measurements, in steps."""
        return Fraction(_moved_squared(self.weights, self.neighbours))

    def measure(self, counts: npt.ArrayLike, *, after: int = 0, rng: Rng) -> Integers:
        """Return the noisy measurements of the days so far, those after the first `after` of them.

        `counts` are exact, one for each day so far, no more than the horizon has. What comes back is
        published; the event pays for one measurement of each day, so a day that was measured
        before must lie within `after`.
        """
        given = np.asarray(counts, dtype=np.int64)
        if given.ndim != 1 or len(given) > self.days:
            raise InvalidInput(f"The horizon is {self.days} days, fixed when it was charged.")
        weights = np.array(self.weights[: len(given)], dtype=np.int64)
        exact = _convolved(weights, np.clip(given, 0, LARGEST_COUNT))[after:]
        return np.asarray(
            exact + discrete_gaussian_squared(self.sigma_squared, len(exact), rng=rng)
        )

    def totals(self, measured: npt.ArrayLike) -> Floats:
        """Return the running total of each day from published measurements: post-processing."""
        given = np.asarray(measured, dtype=np.float64)
        found: Floats = _convolved(self._back(len(given)), given)
        return found

    def errors(self) -> Floats:
        """Return the standard deviation of each day's total, the last of them at the horizon."""
        back = self._back(self.days)
        return np.asarray(np.sqrt(float(self.sigma_squared) * np.cumsum(back**2)))

    def error95(self) -> Floats:
        """Return the half-width of each day's 95% interval."""
        return self.errors() * Z95

    def _back(self, days: int) -> Floats:
        """Return the sequence that turns measurements into totals: 1/(1-z) over the weights' series."""
        back = np.zeros(days)
        weights = np.array(self.weights[:days], dtype=np.float64)
        for day in range(days):
            known = float(weights[1 : day + 1] @ back[:day][::-1]) if day else 0.0
            back[day] = (1 - known) / weights[0]
        return back


def running_totals(
    days: int, *, rho: Fraction, neighbours: Neighbours = Neighbours.ADD_REMOVE
) -> RunningTotals:
    """Return the plan for a horizon of `days`, of which all measurements together cost `rho`.

    >>> plan = running_totals(365, rho=Fraction(1, 2))
    >>> round(float(plan.errors()[-1]), 2)
    2.94
    """
    if not 1 <= days <= LONGEST:
        raise InvalidInput(f"A horizon has 1 to {LONGEST:,} days.")
    if rho <= 0:
        raise InvalidInput("rho must be above 0.")
    weights = tuple(_weights(days))
    moved = Fraction(_moved_squared(weights, neighbours))
    return RunningTotals(days, weights, moved / (2 * rho), neighbours)


def _moved_squared(weights: tuple[int, ...], neighbours: Neighbours) -> int:
    # Replace-one: a row leaves one day and enters another; at most both lengths together.
    return sum(weight * weight for weight in weights) * neighbours.moves**2


def _weights(days: int) -> list[int]:
    """Return r(k) in steps, rounded; whatever they are, what they move is counted exactly."""
    ratio, found = 1.0, []
    for k in range(days):
        found.append(max(1, round(ratio * LATTICE)))
        ratio *= (2 * k + 1) / (2 * k + 2)
    return found


def _convolved(weights: Any, values: Any) -> Any:
    """Return, for each day, the sum of weights times the values of that day and those before."""
    return np.convolve(weights, values)[: len(values)]


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, kw_only=True)
class TotalsRequest(TotalsFields):
    """Running totals of the rows of one table by their date, from `start` on, for `days` days."""

    if TYPE_CHECKING:
        start: dt.date
        epsilon: Epsilon
        delta: Delta

    @classmethod
    def of(cls, name: str, **words: Any) -> TotalsRequest:
        """Return a checked request from the fields of `TotalsFields`."""
        asked = TotalsFields(name, **words)
        series_name(name)
        for word in (asked.table, asked.column):
            if not _WORD.fullmatch(word):
                raise InvalidInput(f"'{word[:60]}' is not the plain name of a table or column.")
        found = cls(**checked(asked) | {"start": _date(asked.start)})
        if found.start.toordinal() + found.days > dt.date.max.toordinal():
            raise InvalidInput("The horizon ends after the last date there is.")
        if not found.delta.value:
            raise InvalidInput("Running totals need a delta above 0: their noise is Gaussian.")
        return found

    @property
    def last(self) -> dt.date:
        """Return the last day of the horizon."""
        return self.start + dt.timedelta(days=self.days - 1)

    @property
    def body(self) -> str:
        """Return what the name stands for: asked again, all of it must be the same."""
        asked = {
            "dataset": self.dataset,
            "table": self.table,
            "column": self.column,
            "start": self.start.isoformat(),
            "days": self.days,
            "epsilon": str(self.epsilon.value),
            "delta": str(self.delta.value),
        }
        return "totals " + json.dumps(asked, sort_keys=True)

    def spec(self) -> Spec:
        """Return the daily counts as one published table: they are read and sealed like any other."""
        between = f"{self.column} >= DATE '{self.start}' AND {self.column} <= DATE '{self.last}'"
        sql = f"SELECT {self.column}, COUNT(*) AS n FROM {self.table} WHERE {between} GROUP BY {self.column}"
        return Spec(
            name=self.name,
            dataset=self.dataset,
            epsilon=self.epsilon,
            delta=self.delta,
            tables=(TableSpec("days", sql),),
            cuts=(),
            facts=(),
            rules=(),
            text=self.body,
            base=Path(),
        )

    def days_through(self, day: dt.date | str) -> int:
        """Return how many days of the horizon are over when `day` is the last one that is."""
        through = _date(day)
        if not self.start <= through <= self.last:
            raise InvalidInput(
                f"The horizon is {self.start} to {self.last}; {through} is not in it."
            )
        return (through - self.start).days + 1


def series_name(name: str) -> str:
    """Return the name of a series, which is also that of a file."""
    if not _NAME.fullmatch(name):
        raise InvalidInput("The name of a series may hold letters, digits, - and _, at most 64.")
    return name


def _date(value: dt.date | str) -> dt.date:
    if isinstance(value, dt.datetime) or not isinstance(value, dt.date | str):
        raise InvalidInput("A day is a date such as 2026-01-31.")
    try:
        return value if isinstance(value, dt.date) else dt.date.fromisoformat(value)
    except ValueError:
        raise InvalidInput(f"'{str(value)[:20]}' is not a date such as 2026-01-31.") from None


MARK = b"totals "
"""How a stored measurement begins: it is no answer, no model and no release."""
SECONDS = 600.0
LATE = "Rows that arrived after their day was published are not in these totals."
"""What readers are told; how many there are is an exact count of rows, and private."""


@dataclass(frozen=True, slots=True, repr=False)
class TotalsSoFar(ShownInLines, Charged):
    """The totals of the days that were measured, each with the half-width of its 95% interval.

    `measured` are the noisy measurements that everything else follows from.
    """

    name: str
    days: tuple[dt.date, ...]
    totals: tuple[float, ...]
    error95: tuple[float, ...]
    measured: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "series": self.name,
            "days": [day.isoformat() for day in self.days],
            "totals": list(self.totals),
            "error95": list(self.error95),
            "measured": list(self.measured),
            "notices": [LATE],
            **self.bill.to_json(),
        }

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.totals_lines(self.to_json())


def measure_totals(
    request: TotalsRequest, through: dt.date | str, desk: Desk, *, state: Path
) -> TotalsSoFar:
    """Return the running totals of all days up to `through`, of which new ones are measured now.

    Guarantee: the first call charges the whole horizon, before a row is read. Every day is measured
        once, with noise for all measurements of the horizon together (`RunningTotals.event`): each
        look writes a free line into the ledger that is bound to where the series stands, and its
        outcome is stored and final. Rows have immutable dates and are units of their own, so a row
        enters each measurement with the weight of its date or, before it has arrived, not at all:
        that moves the vector of measurements by no more than what was paid for. Days are read in many
        versions, and between them a row may come from another table: so the charge is for the rows of
        all tables, and only immutable columns tell whom it spares (`in_every_version`). A date that is
        declared in another way is another column: no day is measured by it (`require_billed`).

    Rows that arrive after their day was looked at are not counted (`FrozenDays`, under `state`).
    """
    wanted = request.days_through(through)
    with planned(request.spec(), desk) as (plan, held):
        factor = _factor(plan, request)
        region = in_every_version(plan.priced.quote.region)
        quote = price_batch([factor.event], delta=plan.spec.delta, region=region)
        charge = Charge(
            quote,
            f"totals:{request.name}",
            _body(request, plan),
            note=f"running totals {request.name}, {request.days} days",
            snapshot=plan.snapshot,
        )
        begun = MARK + request.body.encode()  # no row is read for it
        receipt, _ = paid(plan.payer, charge, lambda *_: begun, held=held, ledger=desk.ledger)
        frozen = FrozenDays(state, request.name)
        work = _Looks(request, plan, held, desk.ledger, factor, desk.rng, frozen, region)
        measured = work.so_far()
        if len(measured) < wanted:
            require_billed(region, receipt, desk.ledger)
            measured = [*measured, *work.measured(len(measured), wanted)]
    return _told(request, factor, measured, receipt)


def _body(request: TotalsRequest, plan: PlannedRelease) -> str:
    """Return what was asked for; among several tables not as it once was: billed in one version alone."""
    tables = [name for name, _ in plan.priced.quote.region.axes if parse_axis(name) is None]
    return f"{request.body} in every version" if tables else request.body


def require_billed(region: Region, receipt: Receipt, ledger: Ledger) -> None:
    """Refuse to measure rows that the charge of a series does not cover.

    Guarantee: whoever is in `region`, as it is declared now, is in the region that was charged, so the
        rows of every look were billed. Both are read from the ledger and from declarations, never from rows.
    """
    paid_for = ledger.charge_of(receipt.payer.analyst, receipt.request_id)
    if paid_for is not None and region & Region.from_json(paid_for.data["region"]) == region:
        return
    raise InvalidInput(
        "The date of this series is declared in another way than when the series began: its bounds, or how "
        "its texts are read. Further days would count rows that were not paid for.",
        hint="Declare the date as it was, or begin a new series under another name.",
    )


def _factor(plan: PlannedRelease, request: TotalsRequest) -> RunningTotals:
    """Return the noise of the horizon, or refuse what it would not be enough for."""
    (wanted,) = plan.wanted
    table = wanted.member.table.table
    column = next(c for c in table.columns if c.name.lower() == request.column.lower())
    if table.unit is None or table.unit.column is not None:
        raise InvalidInput(
            "Running totals count rows that are units of their own.",
            hint="Publish a table by day instead: discreet publish SPEC.",
        )
    if not column.immutable:
        raise InvalidInput(
            f"The date '{column.name}' may change between snapshots.",
            hint="Declare it with immutable = true where no row's date ever changes.",
        )
    if wanted.length > plan.dataset.neighbours.moves or len(wanted.member.keys) != 1:
        raise InvalidInput("Running totals count each row on one day.")
    rho = rho_of_target(plan.spec.epsilon.value, plan.spec.delta.value)
    return running_totals(request.days, rho=Fraction(rho), neighbours=plan.dataset.neighbours)


class FrozenDays:
    """The exact counts of days that one series looked at, kept so that rows which arrive late are not counted.

    Private: they lie in the state folder beside the snapshots, readable by the owner of the process alone,
    and nothing but the measuring of the same series reads them.

    Guarantee: none is needed. A row enters each measurement with the weight of its day or not at all,
        whether the counts were kept, lost or never there: that is what was paid for.
    """

    def __init__(self, state: Path, series: str) -> None:
        self._path = state / "totals" / f"{series}.private"

    def applied(self, counts: Integers) -> Integers:
        """Return the counts with those of earlier looks in place of today's."""
        kept, _ = self._read()
        found = counts.copy()
        found[: len(kept)] = kept[: len(found)]
        return found

    def keep(self, counts: Integers, today: Integers) -> None:
        """Keep the counts of all days that were looked at, and by how many rows today's are more, day by day."""
        late = int(np.maximum(today - counts, 0).sum())
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = json.dumps({"counts": counts.tolist(), "late": late})
        write_whole(self._path, kept, durable=True)

    def late(self) -> int | None:
        """Return how many rows had arrived late at the last look, for the owner alone; None before it."""
        return self._read()[1]

    def _read(self) -> tuple[Integers, int | None]:
        with suppress(OSError, ValueError, TypeError, KeyError):
            found = json.loads(self._path.read_text(encoding="utf-8"))
            # Earlier versions kept the counts alone.
            found = found if isinstance(found, dict) else {"counts": found, "late": None}
            return np.array(found["counts"], dtype=np.int64).reshape(-1), found["late"]
        return np.zeros(0, dtype=np.int64), None


@dataclass(frozen=True, slots=True, eq=False)
class _Looks:
    """What is measured day by day under one charge."""

    request: TotalsRequest
    plan: PlannedRelease
    held: Held
    ledger: Ledger
    factor: RunningTotals
    rng: Rng
    frozen: FrozenDays
    region: Region

    def so_far(self) -> list[int]:
        """Return the stored measurements, in the order of the days."""
        found: list[int] = []
        while (stored := self.ledger.stored_answer(self._id(len(found)))) is not None:
            found += unpack(stored)
        return found

    def measured(self, after: int, through: int) -> list[int]:
        """Return the measurements of the days after `after` up to `through`: one look, once."""
        charge = Charge(
            Quote(NOTHING, FREE, self.region),
            self._id(after),
            f"{self.request.body} {after} {through}",
            note=f"running totals {self.request.name}, days {after + 1} to {through}: paid before",
            snapshot=self.plan.snapshot,
        )
        _, stored = paid(
            self.plan.payer,
            charge,
            lambda reader, _: self._look(reader, after, through),
            held=self.held,
            ledger=self.ledger,
        )
        return unpack(stored)

    def _id(self, after: int) -> str:
        return f"totals:{self.request.name}:{after}"

    def _look(self, reader: PaidReader, after: int, through: int) -> bytes:
        today = self._counts(reader)[:through]
        counts = self.frozen.applied(today)
        self.frozen.keep(counts, today)
        found = self.factor.measure(counts, after=after, rng=self.rng)
        return MARK + json.dumps({"measured": found.tolist()}).encode()

    def _counts(self, reader: PaidReader) -> Integers:
        """Return the exact count of each day of the horizon, 0 where no such day is declared."""
        (wanted,) = self.plan.wanted
        read, family = wanted.read, self.plan.families[wanted.family]
        exact = count_cells(read, family, reader, seconds=SECONDS)
        layout = Layout(wanted.member)
        cells = layout.flat(member_cells(exact, read, family, wanted.member))
        counts = np.zeros(self.request.days, dtype=np.int64)
        for label, count in zip(layout.key(0).to_pylist(), cells, strict=True):
            place = (dt.date.fromisoformat(label) - self.request.start).days
            if 0 <= place < self.request.days:
                counts[place] = count
        return counts


def unpack(payload: bytes) -> list[int]:
    """Return the measurements of one stored look."""
    if not payload.startswith(MARK):
        raise InvalidInput("That is no measurement of running totals.")
    found: list[int] = json.loads(payload[len(MARK) :])["measured"]
    return found


def _told(
    request: TotalsRequest, factor: RunningTotals, measured: list[int], receipt: Receipt
) -> TotalsSoFar:
    count = len(measured)
    return TotalsSoFar(
        name=request.name,
        days=tuple(request.start + dt.timedelta(days=day) for day in range(count)),
        totals=tuple(factor.totals(measured).tolist()),
        error95=tuple(factor.error95()[:count].tolist()),
        measured=tuple(measured),
        bill=receipt.bill,
    )
