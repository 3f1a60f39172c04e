"""Reports on disk: one SQLite file a survey, one column a question, each report id once."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import InvalidInput, UnknownName
from discreet.survey.collect.check import DonationCheck, Refusal
from discreet.survey.collect.columns import write_columns
from discreet.survey.collect.reader import DonationReader
from discreet.survey.device.donation import Donation
from discreet.survey.estimate.result import QuestionTally
from discreet.survey.randomizers.base import Reports, Tally
from discreet.survey.spec.plan import SurveyPlan
from discreet.survey.spec.read import read_survey

Row = tuple[Any, ...]
"""A donation as it is stored: its one-use id, then a report a question."""

FOLDER = "surveys"
COLUMNS = "reports.parquet"
_TOML, _STATE, _REPORTS = "survey.toml", "state.json", "reports.db"
_AT_ONCE = 20_000
_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class Taken:
    """How many donations of a batch were taken, and how many were refused for which reason."""

    accepted: int
    refused: Mapping[Refusal, int]


class SurveyStore:
    """The reports to one survey. Neither addresses nor times are kept, and rows lie in the order of
    their random ids, so that nothing tells who came when.

    A donation is on disk before `take` returns. Several processes may take and read at the same time.
    """

    def __init__(self, folder: Path, plan: SurveyPlan) -> None:
        self.folder = folder
        self.plan = plan
        self.check = DonationCheck(plan)
        self.reader = DonationReader(plan)

    @classmethod
    def create(cls, toml: Path, base: Path) -> SurveyStore:
        """Return the store of a new survey below `base`; its name is the file's stem."""
        survey = read_survey(toml)
        plan = SurveyPlan.of(survey, nonce=secrets.token_hex(8))
        folder = base / FOLDER / survey.name
        if folder.exists():
            raise _taken_name(survey.name)
        # Made beside its place and moved there: a survey is whole, or not there at all.
        fresh = cls(base / FOLDER / f".{survey.name}.{secrets.token_hex(4)}", plan)
        fresh.folder.mkdir(parents=True)
        fresh._prepare(toml)
        try:
            fresh.folder.rename(folder)
        except OSError:
            shutil.rmtree(fresh.folder)
            raise _taken_name(survey.name) from None
        return cls(folder, plan)

    def _prepare(self, toml: Path) -> None:
        (self.folder / _TOML).write_bytes(toml.read_bytes())
        for question in self.plan.survey.questions:
            words = toml.parent / question.candidates
            if question.candidates and words.is_file():
                kept = self.folder / Path(question.candidates).name
                kept.write_bytes(words.read_bytes())
        self._write_state(closed=False)
        with self._connection() as connection:
            connection.execute(self._table())
            connection.execute("CREATE TABLE refused (reason TEXT PRIMARY KEY, times INTEGER)")

    @classmethod
    def open(cls, name: str, base: Path) -> SurveyStore:
        """Return the store of a survey that was made below `base`."""
        folder = base / FOLDER / name
        known = sorted(path.parent.name for path in (base / FOLDER).glob(f"*/{_STATE}"))
        if name not in known:
            hint = f"There are: {', '.join(known)}." if known else "Make one: discreet survey new."
            raise UnknownName("There is no survey of this name here.", hint=hint)
        state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
        stated = read_survey(folder / _TOML)
        plan = SurveyPlan.of(replace(stated, name=name), nonce=state["nonce"])
        if plan.id.hex() != state["id"]:
            raise InvalidInput(
                f"'{folder / _TOML}' was changed after the survey began.",
                hint="Restore it, or begin a new survey.",
            )
        return cls(folder, plan)

    @property
    def closed(self) -> bool:
        """Return whether no more donations are taken."""
        state = json.loads((self.folder / _STATE).read_text(encoding="utf-8"))
        return bool(state["closed"])

    def close(self) -> Path:
        """Take no more donations; return the file of columns, without ids, that was written."""
        self._write_state(closed=True)
        columns = ", ".join(f"q{index}" for index in range(len(self.plan.choices)))
        with self._connection() as connection:
            rows = connection.execute(f"SELECT {columns} FROM reports").fetchall()
        write_columns(self.folder / COLUMNS, self.plan, rows)
        return self.folder / COLUMNS

    def take_cbor(self, donations: Iterable[bytes]) -> Taken:
        """Take donations that stand as CBOR."""
        read = self.reader.row
        return self._take(read(each) or _row(self.check.from_cbor(each)) for each in donations)

    def take_json(self, donations: Iterable[Any]) -> Taken:
        """Take donations that stand as JSON twins."""
        return self._take(_row(self.check.from_json(each)) for each in donations)

    def refuse(self, reason: Refusal) -> Taken:
        """Count a donation that could not even be read, for this reason."""
        return self._take([reason])

    def _take(self, donations: Iterable[Row | Refusal]) -> Taken:
        refused: Counter[Refusal] = Counter()
        rows: list[Row] = []
        closed = self.closed
        for each in donations:
            if isinstance(each, Refusal):
                refused[each] += 1
            elif closed:
                refused[Refusal.CLOSED] += 1
            else:
                rows.append(each)
        with self._connection() as connection:
            accepted = self._insert(connection, rows)
            if len(rows) > accepted:
                refused[Refusal.REPLAYED] += len(rows) - accepted
            connection.executemany(
                "INSERT INTO refused VALUES (?, ?) ON CONFLICT DO UPDATE SET times = times + excluded.times",
                [(str(reason), times) for reason, times in refused.items()],
            )
        return Taken(accepted, dict(refused))

    def _insert(self, connection: sqlite3.Connection, rows: list[Row]) -> int:
        marks = ", ".join("?" * (1 + len(self.plan.choices)))
        before = connection.total_changes
        connection.executemany(f"INSERT OR IGNORE INTO reports VALUES ({marks})", rows)
        return connection.total_changes - before

    def reports(self) -> int:
        """Return how many donations were taken."""
        with self._connection() as connection:
            return int(connection.execute("SELECT COUNT(*) FROM reports").fetchone()[0])

    def refused(self) -> dict[str, int]:
        """Return how many donations were refused, by reason."""
        with self._connection() as connection:
            return dict(connection.execute("SELECT reason, times FROM refused ORDER BY reason"))

    def tallies(self) -> list[QuestionTally]:
        """Return the tally of every question: counted by SQL where reports are numbers."""
        with self._connection() as connection:
            return [self._tally(connection, index) for index in range(len(self.plan.choices))]

    def _tally(self, connection: sqlite3.Connection, index: int) -> QuestionTally:
        randomizer = self.plan.choices[index].randomizer
        cells = randomizer.shape.cells
        if cells:
            sql = f"SELECT q{index}, COUNT(*) FROM reports WHERE q{index} IS NOT NULL GROUP BY q{index}"
            tally = histogram_of(connection.execute(sql).fetchall(), cells)
            return QuestionTally(int(tally.sum()), tally)
        answers, total = 0, randomizer.tally(_rows_of([], randomizer.shape.length))
        cursor = connection.execute(f"SELECT q{index} FROM reports WHERE q{index} IS NOT NULL")
        while some := cursor.fetchmany(_AT_ONCE):
            answers += len(some)
            total = total + randomizer.tally(
                _rows_of([row[0] for row in some], randomizer.shape.length)
            )
        return QuestionTally(answers, total)

    def pairs(self, names: tuple[str, str]) -> tuple[tuple[Reports, Reports], Tally]:
        """Return the different pairs of reports to two questions and how often each occurs."""
        first, second = (self.plan.question_index(name) for name in names)
        columns = f"q{first}, q{second}"
        sql = f"SELECT {columns}, COUNT(*) FROM reports WHERE q{first} IS NOT NULL AND q{second} IS NOT NULL"
        with self._connection() as connection:
            found = connection.execute(f"{sql} GROUP BY {columns}").fetchall()
        sides = [
            _reports_of(
                [row[at] for row in found], self.plan.choices[index].randomizer.shape.length
            )
            for at, index in enumerate((first, second))
        ]
        return (sides[0], sides[1]), np.array([row[2] for row in found], dtype=np.int64)

    def _table(self) -> str:
        columns = ", ".join(f"q{index}" for index in range(len(self.plan.choices)))
        return f"CREATE TABLE reports (id BLOB PRIMARY KEY, {columns}) WITHOUT ROWID"

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.folder / _REPORTS, timeout=_WAIT)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            with connection:
                yield connection
        finally:
            connection.close()

    def _write_state(self, *, closed: bool) -> None:
        state = {"id": self.plan.id.hex(), "nonce": self.plan.nonce, "closed": closed}
        fresh = self.folder / f"{_STATE}.{secrets.token_hex(4)}"
        fresh.write_text(json.dumps(state), encoding="utf-8")
        os.replace(fresh, self.folder / _STATE)  # noqa: PTH105 atomic, and says so


def _row(found: Donation | Refusal) -> Row | Refusal:
    return found if isinstance(found, Refusal) else (found.id, *found.reports)


def _taken_name(name: str) -> InvalidInput:
    return InvalidInput(
        f"There is a survey '{name}' already.",
        hint="Give the file another name, or delete its folder below 'surveys'.",
    )


def histogram_of(counted: Iterable[tuple[int, int]], cells: int) -> Tally:
    """Return the tally of reports that are numbers from how often SQL found each."""
    tally = np.zeros(cells, dtype=np.int64)
    for report, times in counted:
        tally[report] += times
    return tally


def _rows_of(found: list[bytes], length: int) -> Reports:
    return np.frombuffer(b"".join(found), dtype=np.uint8).reshape(len(found), length)


def _reports_of(found: list[Any], length: int) -> Reports:
    return _rows_of(found, length) if length else np.array(found, dtype=np.int64)
