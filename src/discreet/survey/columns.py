"""Reports as columns that any engine can count: a Parquet file, and tallies by one GROUP BY a question.

Columns come from outside: a table of a cluster, a file that somebody joined from several. So they are not
believed. A column of another type is refused; a report that no device could make is left out and counted.
They hold no ids: a file that is counted twice cannot be noticed here, only by the store that wrote it.

Reports that are strings of bits are checked and added up where they lie. A string is read as words of 64 bits, and
a word is added up by 32 sums of two bits each: one in the low half of a number, one in the high half. What an engine
returns is as large as the survey's tally, whatever the number of reports.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.base.arrays import Integers
from discreet.data.engines.base import Engine, open_exact
from discreet.data.engines.connect import connect, kind_of
from discreet.data.engines.functions import function
from discreet.errors import InvalidInput
from discreet.survey.donation_checks import Refusal
from discreet.survey.plan import SurveyPlan
from discreet.survey.randomizers.base import Randomizer, Reports, ReportShape, Tally, smallest_type
from discreet.survey.results import QuestionTally

MOST_BESIDE = 1 << 31
"""Reports whose bits can be added up two in a number without one sum reaching the other."""
_BYTES, _BITS, _HALF = 8, 64, 32  # of a word
_ROW_BYTES = 2


@dataclass(frozen=True, slots=True)
class BitColumn:
    """A column of strings of bits in a dialect of SQL."""

    name: str
    shape: ReportShape
    dialect: str

    @property
    def possible(self) -> str:
        """Return the condition that a string is one that a device can make: `ReportShape.accepts`."""
        asked = [f"octet_length({self.name}) = {self.shape.length}"]
        if self.shape.rows:
            asked.append(f"{self._number('1', _ROW_BYTES)} < {self.shape.rows}")
        if self.shape.spare_bits:
            last = self._number(str(self.shape.length), 1)
            asked.append(f"({last} & {(1 << self.shape.spare_bits) - 1}) = 0")
        return " AND ".join(asked)

    def sums(self, held: str, reports: int) -> str:
        """Return the SELECT of how often each bit is set among the `reports` strings of a SELECT.

        One row a row of the sketch (`part`) and word of the string (`place`), with how many reports
        there are (`times`) and the sums s0, s1, ...: what `tally` takes.
        """
        part = self._number("1", _ROW_BYTES) if self.shape.rows else "0"
        word = self._number(f"{self._start + 1} + {_BYTES} * place", _BYTES)
        places = ", ".join(f"({place})" for place in range(self._words))
        ones = sum(1 << at for at in range(0, _BITS, _apart(reports)))
        shifted = [
            function("shift_right", self.dialect, "word", str(at)) for at in range(_apart(reports))
        ]
        sums = ", ".join(
            f"CAST(SUM({each} & {ones}) AS BIGINT) AS s{at}" for at, each in enumerate(shifted)
        )
        return (
            f"SELECT part, place, COUNT(*) AS times, {sums} FROM ("
            f"SELECT {part} AS part, place, {word} AS word FROM ({held}) AS held "
            f"CROSS JOIN (VALUES {places}) AS places(place)) AS words GROUP BY part, place"
        )

    def tally(self, found: pa.Table, reports: int) -> Tally:
        """Return what `sums` found: for each row how often each bit was set, and last its reports."""
        part, place, times = (whole(found[name]) for name in ("part", "place", "times"))
        apart = _apart(reports)
        sums = np.array(
            [whole(found[f"s{at}"]) for at in range(apart)]
        )  # the last bit of a word first
        bits = np.concatenate([sums & (2**_HALF - 1), sums >> _HALF]) if apart == _HALF else sums
        table = np.zeros((max(1, self.shape.rows), self._words, _BITS), dtype=np.int64)
        table[part, place] = bits[::-1].T
        missing = _BITS * self._words - 8 * (self.shape.length - self._start)
        table[:, -1] = np.roll(
            table[:, -1], -missing, axis=1
        )  # a word of fewer bytes ends like others
        width = _BITS * self._words - missing - self.shape.spare_bits
        tally = np.zeros((len(table), width + 1), dtype=np.int64)
        tally[:, :-1] = table.reshape(len(table), -1)[:, :width]
        tally[part, -1] = times
        return tally if self.shape.rows else tally[0]

    @property
    def _start(self) -> int:
        return _ROW_BYTES if self.shape.rows else 0

    @property
    def _words(self) -> int:
        return -(-(self.shape.length - self._start) // _BYTES)

    def _number(self, place: str, count: int) -> str:
        return function("whole_of_bytes", self.dialect, self.name, place, str(count))


def _apart(reports: int) -> int:
    """Return how many bits of a number one sum has for itself."""
    return _HALF if reports < MOST_BESIDE else _BITS


def whole(column: pa.ChunkedArray) -> Integers:
    """Return a column of whole numbers, whatever type an engine gives to them."""
    return np.array(column.to_pylist(), dtype=np.int64)


_OWNER_ONLY = 0o600
_PATIENCE = 3600.0  # seconds of one count: its owner waits for it, nobody else does


def write_columns(path: Path, plan: SurveyPlan, batches: Iterable[Sequence[Sequence[Any]]]) -> None:
    """Write reports, one column q0, q1, ... a question, in the narrowest types; no ids.

    The file is there whole or not at all, and only its owner may read it.
    """
    fields = [
        pa.field(f"q{index}", _type(choice.randomizer)) for index, choice in enumerate(plan.choices)
    ]
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY))
    try:
        with pq.ParquetWriter(fresh, pa.schema(fields)) as writer:
            for rows in batches:
                arrays = [
                    pa.array([row[index] for row in rows], type=field.type)
                    for index, field in enumerate(fields)
                ]
                writer.write_table(pa.table(arrays, schema=pa.schema(fields)))
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def _type(randomizer: Randomizer) -> pa.DataType:
    if randomizer.shape.length:
        return pa.binary(randomizer.shape.length)
    return pa.from_numpy_dtype(smallest_type(randomizer.shape.cells))


class ColumnReports:
    """The reports to one survey in columns q0, q1, ... of an engine's table.

    The engine counts numbers and adds up strings of bits, so that a billion reports stay where they are;
    only a cross table fetches, and then the different pairs of reports to two questions. As in the store,
    a donation with a report that cannot be is left out as a whole.
    """

    def __init__(self, engine: Engine, table: str, plan: SurveyPlan) -> None:
        self._engine, self._plan = engine, plan
        self._shapes = [choice.randomizer.shape for choice in plan.choices]
        names, missing = set(engine.names(table)), {f"q{at}" for at in range(len(self._shapes))}
        if missing - names:
            raise InvalidInput(
                f"The table has no column '{min(missing - names)}'.",
                hint="Columns of reports are q0, q1, ... as `discreet survey close` writes them.",
            )
        self._relation = engine.relation(table)
        for at, shape in enumerate(self._shapes):
            self._check_type(f"q{at}", shape)
        some = " OR ".join(f"q{at} IS NOT NULL" for at in range(len(self._shapes)))
        possible = " AND ".join(self._possible(at) for at in range(len(self._shapes)))
        self._good = f"{self._relation} WHERE ({some}) AND {possible}"

    def _possible(self, at: int) -> str:
        """Return the condition that a column is empty or holds what could be a report."""
        shape = self._shapes[at]
        told = self._bits(at).possible if shape.length else f"q{at} BETWEEN 0 AND {shape.cells - 1}"
        return f"(q{at} IS NULL OR ({told}))"

    def _bits(self, at: int) -> BitColumn:
        return BitColumn(f"q{at}", self._shapes[at], self._engine.capabilities.dialect)

    def _check_type(self, column: str, shape: ReportShape) -> None:
        kind = self._run(f"SELECT {column} FROM {self._relation} WHERE 1 = 0").schema.field(0).type
        whole = pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0)
        if not (pa.types.is_binary(kind) if shape.length else whole):
            held = "bytes" if shape.length else "whole numbers"
            raise InvalidInput(
                f"The column '{column}' must hold {held}: reports of this survey are."
            )

    def reports(self) -> int:
        """Return how many donations there are that devices can make."""
        return self._reports

    @cached_property
    def _reports(self) -> int:
        return self._count(self._good)

    def refused(self) -> dict[str, int]:
        """Return how many donations no device can have made, if there are any."""
        count = self._count(self._relation) - self.reports()
        return {str(Refusal.SHAPE): count} if count else {}

    def least_alike(self) -> int:
        """Return how many donations answer the same questions, of the fewest that do."""
        answered = ", ".join(f"q{at} IS NULL" for at in range(len(self._shapes)))
        found = self._run(f"SELECT COUNT(*) AS alike FROM {self._good} GROUP BY {answered}")
        return int(whole(found["alike"]).min(initial=self.reports()))

    def tallies(self) -> list[QuestionTally]:
        """Return the tally of every question."""
        return [self._tally(at, shape) for at, shape in enumerate(self._shapes)]

    def _tally(self, at: int, shape: ReportShape) -> QuestionTally:
        answered = f"{self._good} AND q{at} IS NOT NULL"
        if shape.length:
            bits, answers = self._bits(at), self._count(answered)
            sums = self._run(bits.sums(f"SELECT q{at} FROM {answered}", answers))
            return QuestionTally(answers, bits.tally(sums, answers))
        found = self._run(f"SELECT q{at} AS told, COUNT(*) AS times FROM {answered} GROUP BY q{at}")
        return numbers_tally(whole(found["told"]), whole(found["times"]), shape.cells)

    def pairs(self, names: tuple[str, str]) -> tuple[tuple[Reports, Reports], Tally]:
        """Return the different pairs of reports to two questions, and how often each occurs."""
        sides = [self._plan.question_index(name) for name in names]
        columns = ", ".join(f"q{at}" for at in sides)
        there = " AND ".join(f"q{at} IS NOT NULL" for at in sides)
        sql = (
            f"SELECT {columns}, COUNT(*) AS times FROM {self._good} AND {there} GROUP BY {columns}"
        )
        found = self._run(sql)
        told = [
            reports_of(found.column(place).to_pylist(), self._shapes[at].length)
            for place, at in enumerate(sides)
        ]
        return (told[0], told[1]), whole(found["times"])

    def _count(self, relation: str) -> int:
        return int(self._run(f"SELECT COUNT(*) AS n FROM {relation}")["n"][0].as_py())

    def _run(self, sql: str) -> pa.Table:
        return open_exact(self._engine.owner_reader().run(sql, seconds=_PATIENCE))


@contextmanager
def attached(table: str | None, url: str) -> Iterator[tuple[Engine, str] | None]:
    """Lend the engine at `url` with a file or table of columns, under a name; None where there is none."""
    if table is None:
        yield None
        return
    path = Path(table)
    files = kind_of(url).files
    base, source = (path.parent, path.name) if files else (Path(), table)
    engine = connect(url, {"reports": source}, base=base)
    try:
        yield engine, "reports"
    finally:
        engine.close()


def numbers_tally(told: Reports, times: Tally, cells: int) -> QuestionTally:
    """Return the tally of reports that are numbers from how often SQL found each."""
    counts = np.zeros(cells, dtype=np.int64)
    counts[told] = times
    return QuestionTally(int(counts.sum()), counts)


def reports_of(found: list[Any], length: int) -> Reports:
    """Return reports as one array: strings of one length as rows of bytes, or numbers."""
    if not length:
        return np.array(found, dtype=np.int64)
    return np.frombuffer(b"".join(found), dtype=np.uint8).reshape(len(found), length)
