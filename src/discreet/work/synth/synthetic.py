"""A synthetic table: rows drawn from a model under conditions and rules, its price, and what the reader should know.

Drawing rejects, then repairs, never for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.base import display
from discreet.base.arrays import Bits
from discreet.base.bill import Charged
from discreet.base.display import ShownInLines, ShownLines
from discreet.base.packages import needs
from discreet.base.requests.paid import MOST_ROWS
from discreet.errors import InvalidInput
from discreet.measure.columns import Coded, Encoding
from discreet.measure.decoding import NULL, Places, decimals_of, places_of, to_table
from discreet.measure.private_marginals import Measured
from discreet.measure.shape import Codes
from discreet.show.rows import CsvStyle, style_from, write_rows
from discreet.work.synth.model_file import Saved, write_model
from discreet.work.synth.models.model import Allowed, Model
from discreet.work.synth.rules import (
    Condition,
    Dependency,
    Rules,
    allowed_codes,
    derive,
    holds,
    read_condition,
    read_rules,
)

ROUNDS = 12
"""How often rows that break a rule are drawn again before they are repaired."""

MOST_MORE = 50
MOST_AT_ONCE = 50_000
"""A round draws at most 50 rows for each one that is lacking, and no more than this beyond them."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Positions of the rows, and how many of them had to be repeated from others."""

    places: Places
    repeated: int


def draw(
    model: Model,
    encoding: Encoding,
    rows: int,
    *,
    dice: np.random.Generator,  # no guarantee hangs on these dice: the model is paid for
    where: Condition | None = None,
    rules: Rules | None = None,
) -> Drawn:
    """Return that many rows, each of which satisfies `where` and breaks no rule."""
    kept_rules = rules or Rules()
    given = _given(where, kept_rules, encoding)
    if any(not mask.any() for mask in given.values()):
        raise _impossible(where, kept_rules)
    tables = [(rule, likely_codes(model, rule)) for rule in kept_rules.dependencies]

    def finished(codes: Codes) -> Places:
        for rule, table in tables:
            codes[:, rule.then] = table[tuple(codes[:, i] for i in rule.given)]
        places = derive(places_of(codes, encoding, dice), encoding, kept_rules.derivations)
        if where is None and not kept_rules.conditions:
            return places
        return places[good_rows(places, encoding, kept_rules, where)]

    found = _collect(
        lambda count: finished(model.sample(count, dice=dice, given=given or None)), rows
    )
    if not len(found) and rows:
        # The model gives such rows no weight; any row that keeps the rules is better than none.
        found = _collect(lambda count: finished(_uniform(encoding, count, given, dice)), rows)
    if not len(found) and rows:
        raise _impossible(where, kept_rules)
    lacking = rows - len(found)
    if lacking:
        found = np.concatenate([found, found[dice.integers(0, len(found), lacking)]])
    return Drawn(found, lacking)


def _given(where: Condition | None, rules: Rules, encoding: Encoding) -> dict[int, Bits]:
    """Return the codes that a good row can have, as far as single columns say; the rest is checked."""
    found = {} if where is None else dict(allowed_codes(where, encoding))
    for rule in rules.conditions:
        if len(rule.columns(encoding)) != 1:
            continue
        for index, mask in allowed_codes(rule, encoding).items():
            column = encoding.coded[index]
            passing = mask.copy()
            if column.missing:
                passing[column.values] = True  # at worst it is rejected afterwards
            found[index] = found[index] & passing if index in found else passing
    # What a dependency or a derivation decides is decided after the draw.
    return {index: mask for index, mask in found.items() if index not in rules.decided}


def _collect(sample: Callable[[int], Places], rows: int) -> Places:
    """Return up to `rows` good rows, asking for more where many were bad; a bounded number of times."""
    parts: list[Places] = []
    have = asked = 0
    for _ in range(ROUNDS):
        lacking = rows - have
        if parts and lacking <= 0:
            break
        rate = (have + 1) / (asked + 1) if asked else 1.0
        count = max(lacking, int(min(lacking / rate * 1.05, lacking * MOST_MORE, MOST_AT_ONCE)))
        good = sample(count)
        asked += count
        parts.append(good[:lacking])
        have += len(parts[-1])
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def good_rows(
    places: Places, encoding: Encoding, rules: Rules, where: Condition | None = None
) -> Bits:
    """Return which rows satisfy a condition and break no rule."""
    good = np.ones(len(places), dtype=bool)
    for rule in rules.conditions:
        good &= holds(rule, places, encoding) != False  # noqa: E712  # None passes, as in CHECK
    if where is not None:
        good &= holds(where, places, encoding) == True  # noqa: E712  # None fails, as in WHERE
    return good


def likely_codes(model: Model, rule: Dependency) -> npt.NDArray[np.int32]:
    """Return the code of `then` for each code of `given`: the most likely one under the model."""
    columns = (*rule.given, rule.then)
    order = sorted(columns)
    counts = model.marginal(tuple(order))
    turned = np.moveaxis(counts, [order.index(column) for column in columns], range(len(columns)))
    best: npt.NDArray[np.int32] = turned.argmax(axis=-1).astype(np.int32)
    return best


def _uniform(
    encoding: Encoding,
    rows: int,
    given: Allowed,
    dice: np.random.Generator,  # no guarantee hangs on these dice: they see no data
) -> Codes:
    codes = np.empty((rows, encoding.shape.width), dtype=np.int32)
    for i, size in enumerate(encoding.shape.sizes):
        choices = np.flatnonzero(given[i]) if i in given else np.arange(size)
        codes[:, i] = dice.choice(choices, rows)
    return codes


def _impossible(where: Condition | None, rules: Rules) -> InvalidInput:
    said = [*([] if where is None else [where.text]), *rules.texts]
    shown = "; ".join(text[:80] for text in said[:3])
    return InvalidInput(
        f"No row can satisfy all of: {shown}.", hint="Relax the condition or drop a rule."
    )


AT_ONCE = 500_000
"""Rows that are drawn and decoded together: what lies between stays small."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SyntheticRows:
    """Made-up rows, as values and as codes, and what happened while they were drawn."""

    table: pa.Table
    codes: Codes
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Synthetic(ShownInLines, Charged):
    """A synthetic copy of one table.

    `saved` holds the model, the encoding and the noisy tables behind it: all of it paid for.
    `rows` is one sample; `sample` draws others, free of charge. `private` is false where a seeded
    generator drew the noise.
    """

    saved: Saved
    rows: SyntheticRows
    method: str
    request_id: str
    notices: tuple[str, ...]
    seconds: float

    @property
    def model(self) -> Model:
        """Return the fitted model."""
        return self.saved.model

    @property
    def encoding(self) -> Encoding:
        """Return how values and codes belong together."""
        return self.saved.encoding

    @property
    def measured(self) -> tuple[Measured, ...]:
        """Return the noisy tables that the method saw, each with the law of its noise."""
        return self.saved.measured

    @property
    def table(self) -> pa.Table:
        """Return the made-up rows."""
        return self.rows.table

    @property
    def private(self) -> bool:
        """Return whether the noise came from the operating system's entropy."""
        return bool(self.saved.facts.get("private", True))

    def to_arrow(self) -> pa.Table:
        """Return the rows as a pyarrow table."""
        return self.rows.table

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame."""
        with needs("pandas", extra="pandas"):
            return self.rows.table.to_pandas()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as an Arrow stream: `polars.DataFrame(synthetic)`, `pyarrow.table(synthetic)`."""
        return self.rows.table.__arrow_c_stream__(requested_schema)

    def write(self, path: str | Path) -> None:
        """Write the rows to a .csv or .parquet file."""
        write_rows(self.rows.table, Path(path), style=csv_style(self.saved))

    def save_model(self, path: str | Path) -> None:
        """Write the model to a file that `load_model` reads; sampling from it is free."""
        write_model(self.saved, Path(path))

    def sample(self, rows: int, *, where: str | None = None) -> pa.Table:
        """Return other made-up rows from the same model, free of charge."""
        return sample_rows(self.saved, rows, where=where).table

    def to_json(self) -> dict[str, Any]:
        """Return the facts that `discreet synth --json` prints; not the rows themselves."""
        return {
            "rows": self.rows.table.num_rows,
            "columns": self.rows.table.column_names,
            "method": self.method,
            **self.bill.to_json(),
            "seconds": round(self.seconds, 3),
            "estimated_rows": round(self.model.total),
            "agreement": self.saved.facts.get("agreement"),
            "request_id": self.request_id,
            "notices": list(self.notices),
        }

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.synthetic_lines(self.to_json())


def sample_rows(
    saved: Saved, rows: int | None = None, *, where: str | None = None, seed: int | None = None
) -> SyntheticRows:
    """Return made-up rows of a paid model: as many as the real table has, unless `rows` says so.

    `seed` makes the sample repeatable; the guarantee hangs on the model, not on these dice.
    """
    wanted = saved.usual_rows if rows is None else rows
    if isinstance(wanted, bool) or not 0 <= wanted <= MOST_ROWS:
        raise InvalidInput(f"The number of rows must be a whole number from 0 to {MOST_ROWS:,}.")
    condition = None if where is None else read_condition(where, saved.encoding)
    rules = read_rules(saved.rules, saved.encoding)
    dice = np.random.default_rng(seed)  # no guarantee hangs on these dice: the model is paid for
    tables, codes, repeated = [], [], 0
    for start in range(0, max(wanted, 1), AT_ONCE):
        part = min(AT_ONCE, wanted - start)
        drawn = draw(saved.model, saved.encoding, part, dice=dice, where=condition, rules=rules)
        tables.append(to_table(drawn.places, saved.encoding, dice, first=start + 1, rows=wanted))
        codes.append(codes_of(drawn.places, saved.encoding))
        repeated += drawn.repeated
    notices = []
    if repeated:
        notices.append(
            f"{repeated:,} rows are repeated from others: the model hardly ever satisfies "
            "the condition and the rules."
        )
    return SyntheticRows(pa.concat_tables(tables), np.concatenate(codes), tuple(notices))


def csv_style(saved: Saved) -> CsvStyle:
    """Return how rows of a model are written as CSV."""
    return style_from(saved.facts.get("csv"), decimals_of(saved.encoding.columns))


def codes_of(places: Places, encoding: Encoding) -> Codes:
    """Return the codes of decoded rows: the bin of each position, the last code for NULL."""
    codes = np.empty(places.shape, dtype=np.int32, order="F")
    for i, column in enumerate(encoding.coded):
        codes[:, i] = _codes(places[:, i], column)
    return codes


def _codes(places: Places, column: Coded) -> Any:
    known = places
    if column.edges is not None:
        known = np.searchsorted(np.array(column.edges), places, side="right") - 1
    return np.where(places == NULL, column.values, known) if column.missing else known
