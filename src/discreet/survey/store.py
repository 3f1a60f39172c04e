"""Reports on disk: one SQLite file a survey, one column a question, each report id once.

And what is kept of a survey beside its reports: which one it is, since when it is open, and until when.
"""

from __future__ import annotations

import json
import secrets
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.files import disk_is_full, write_in_place, write_whole
from discreet.errors import CollectorClosed, InvalidInput, UnknownName
from discreet.survey.answers import read_candidates
from discreet.survey.columns import numbers_tally, reports_of, write_columns
from discreet.survey.device import Donation
from discreet.survey.donation_checks import DonationCheck, DonationReader, Refusal
from discreet.survey.plan import SurveyPlan
from discreet.survey.randomizers.base import Reports, Tally
from discreet.survey.results import QuestionTally
from discreet.survey.specification import Survey, SurveyQuestion, check_name, read_survey

FILE = "state.json"
_DAY = 86_400


def today() -> int:
    """Return the day, counted from 1970-01-01 in UTC as devices count it."""
    return int(time.time() // _DAY)


@dataclass(frozen=True, slots=True)
class SurveyState:
    """The survey's id and nonce, the day it began, the day it was closed (-1: it is open), and its wave.

    Wave 0: it began before there were waves.
    """

    id: str
    nonce: str
    begun: int
    ended: int = -1
    wave: int = 0

    @property
    def closed(self) -> bool:
        """Return whether no more donations are taken."""
        return self.ended >= 0

    @property
    def days(self) -> int:
        """Return on how many days the survey was open so far."""
        return 1 + max(0, (self.ended if self.closed else today()) - self.begun)

    def closing(self) -> SurveyState:
        """Return the state of a survey that was closed: today, or earlier."""
        return self if self.closed else replace(self, ended=max(today(), self.begun))

    def write(self, folder: Path) -> None:
        """Replace the file at once, so that nobody reads half of it; on a full disk write over it.

        Guarantee: closing a survey needs no room. The new text lies in the block of the old one, on
            file systems that write in place (not those that copy each block they write).
        """
        content = json.dumps(asdict(self)).encode()
        try:
            write_whole(folder / FILE, content, durable=True)
        except OSError as error:
            if not disk_is_full(error) or not (folder / FILE).exists():
                raise
            write_in_place(folder / FILE, content)


def read_state(folder: Path) -> SurveyState:
    """Return the state that a survey's folder holds, or refuse a damaged one with a sentence."""
    try:
        stated: Any = json.loads((folder / FILE).read_text(encoding="utf-8"))
        found = SurveyState(**stated)
    except (OSError, ValueError, TypeError, RecursionError):
        raise _damaged(folder) from None
    whole = all(type(each) is int for each in (found.begun, found.ended, found.wave))
    if not whole or not isinstance(found.id, str) or not isinstance(found.nonce, str):
        raise _damaged(folder)
    return found


def _damaged(folder: Path) -> InvalidInput:
    return InvalidInput(
        f"The file '{FILE}' of the survey '{folder.name}' is damaged.",
        hint="Put it back from a copy, or begin a new survey.",
    )


Row = tuple[Any, ...]
"""A donation as it is stored: its one-use id, then a report a question."""

FOLDER = "surveys"
COLUMNS = "reports.parquet"
_TOML, _REPORTS, _WAVE = "survey.toml", "reports.db", "-wave-"
LATER = "What you chose to send stays on your device and is sent later."
_AT_ONCE = 20_000
_WAIT = 30.0
_COUNTED = "CREATE TABLE IF NOT EXISTS taken (reports INTEGER NOT NULL)"
_NO_ROOM = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMOPEN,
)
"""What SQLite says where there is no room, for its journal and its shared memory too."""


@dataclass(frozen=True, slots=True)
class Taken:
    """How many donations of a batch were taken, and how many were refused for which reason."""

    accepted: int
    refused: Mapping[Refusal, int]


class SurveyStore:
    """The reports to one survey. Neither addresses nor times are kept, and rows lie in the order of
    their random ids; closing writes the file anew, so that not even the places of its bytes tell who
    came when. Only the owner of the files may read them.

    A donation is on disk before `take` returns. Several processes may take and read at the same time.

    Guarantee: whoever sends, and from however many processes, there are never more than `most_reports`
        reports, and the file of reports is never larger than `most_mb`.
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
        words = {
            question.name: toml.parent / question.candidates
            for question in survey.questions
            if question.candidates
        }
        return cls._made(toml, survey, base, words, wave=1)

    def next_wave(self) -> SurveyStore:
        """Return the store of the next wave: a survey of its own, from the same file, beside this one."""
        survey, wave = self.plan.survey, self.plan.wave
        if not 0 < wave < survey.waves:
            had = "began before there were waves" if not wave else f"has {survey.waves} of them"
            raise InvalidInput(
                f"The survey '{survey.name}' has no next wave: it {had}.",
                hint="Begin a new survey, which makes a promise of its own.",
            )
        name = f"{survey.name.removesuffix(f'{_WAVE}{wave}')}{_WAVE}{wave + 1}"
        check_name(name, "The name of the next wave")
        words = {each.name: self.words_of(each) for each in survey.questions if each.candidates}
        toml, base = self.folder / _TOML, self.folder.parent.parent
        return self._made(toml, replace(survey, name=name), base, words, wave=wave + 1)

    @classmethod
    def _made(
        cls, toml: Path, survey: Survey, base: Path, listed: Mapping[str, Path], *, wave: int
    ) -> SurveyStore:
        plan = SurveyPlan.of(survey, nonce=secrets.token_hex(8), wave=wave)
        folder = base / FOLDER / survey.name
        if folder.exists():
            raise _taken_name(survey.name)
        # Made beside its place and moved there: a survey is whole, or not there at all.
        fresh = cls(base / FOLDER / f".{survey.name}.{secrets.token_hex(4)}", plan)
        words = {
            fresh.words_of(question).name: _words(listed[question.name], question)
            for question in survey.questions
            if question.name in listed
        }
        fresh.folder.parent.mkdir(parents=True, exist_ok=True)
        fresh.folder.mkdir(mode=0o700)
        fresh._prepare({_TOML: toml.read_bytes(), **words})
        try:
            fresh.folder.rename(folder)
        except OSError:
            shutil.rmtree(fresh.folder)
            raise _taken_name(survey.name) from None
        return cls(folder, plan)

    def _prepare(self, files: Mapping[str, bytes]) -> None:
        for name, content in {**files, _REPORTS: b""}.items():
            write_whole(self.folder / name, content)
        state = SurveyState(self.plan.id.hex(), self.plan.nonce, today(), wave=self.plan.wave)
        state.write(self.folder)
        with self._connection() as connection:
            connection.execute(self._table())
            connection.execute("CREATE TABLE refused (reason TEXT PRIMARY KEY, times INTEGER)")
            connection.execute(_COUNTED)

    @classmethod
    def open(cls, name: str, base: Path) -> SurveyStore:
        """Return the store of a survey that was made below `base`."""
        folder = base / FOLDER / name
        known = survey_names(base)
        if name not in known:
            hint = f"There are: {', '.join(known)}." if known else "Make one: discreet survey new."
            raise UnknownName("There is no survey of this name here.", hint=hint)
        state = read_state(folder)
        stated = read_survey(folder / _TOML)
        plan = SurveyPlan.of(replace(stated, name=name), nonce=state.nonce, wave=state.wave)
        if plan.id.hex() != state.id:
            raise InvalidInput(
                f"The file '{_TOML}' of the survey '{name}' was changed after the survey began.",
                hint="Restore it, or begin a new survey.",
            )
        return cls(folder, plan)

    @property
    def closed(self) -> bool:
        """Return whether no more donations are taken."""
        return read_state(self.folder).closed

    @property
    def repeats(self) -> int:
        """Return how often one device may have given: once, or before there were waves its limit each day."""
        if self.plan.wave:
            return 1
        return self.plan.survey.donations_per_day * read_state(self.folder).days

    def words_of(self, question: SurveyQuestion) -> Path:
        """Return the copy of a question's candidates, made when the survey began."""
        return self.folder / f"{question.name}.words"

    def close(self) -> Path | None:
        """Take no more donations; return the file of columns, without ids, that was written.

        None: the survey is closed, but the disk has no room for that file. Closing again writes it.
        """
        read_state(self.folder).closing().write(self.folder)
        try:
            return self._write_columns()
        except (OSError, sqlite3.OperationalError) as error:
            if not _is_full(error):
                raise
            return None

    def _write_columns(self) -> Path:
        columns = ", ".join(f"q{index}" for index in range(len(self.plan.choices)))
        with self._connection() as connection:
            connection.execute(
                "BEGIN IMMEDIATE"
            )  # waits for whoever saw it open and is still taking
            connection.commit()
            cursor = connection.execute(f"SELECT {columns} FROM reports")
            batches = iter(lambda: cursor.fetchmany(_AT_ONCE), [])
            write_columns(self.folder / COLUMNS, self.plan, batches)
            connection.execute("VACUUM")  # rows in the order of their ids, and nothing of what was
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
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
        for each in donations:
            if isinstance(each, Refusal):
                refused[each] += 1
            else:
                rows.append(each)
        try:
            with self._connection() as connection:
                # Nobody closes it between this look and the commit.
                connection.execute("BEGIN IMMEDIATE")
                if rows and self.closed:
                    refused[Refusal.CLOSED] += len(rows)
                    rows = []
                accepted, replayed = self._insert(connection, rows)
                refused[Refusal.REPLAYED] += replayed
                refused[Refusal.FULL] += len(rows) - accepted - replayed
                connection.executemany(
                    "INSERT INTO refused VALUES (?, ?) ON CONFLICT DO UPDATE SET times = times + excluded.times",
                    [(str(reason), times) for reason, times in refused.items() if times],
                )
        except (OSError, sqlite3.OperationalError) as error:
            if not _is_full(error):
                raise
            raise CollectorClosed(
                "The disk of the server has no room for reports.", hint=LATER
            ) from None
        return Taken(accepted, {reason: times for reason, times in refused.items() if times})

    def _insert(self, connection: sqlite3.Connection, rows: list[Row]) -> tuple[int, int]:
        """Return how many rows were taken and how many were there before; the others did not fit."""
        if not rows:
            return 0, 0
        room = _Room.of(connection, self.plan)
        marks = ", ".join("?" * (1 + len(self.plan.choices)))
        sql = f"INSERT OR IGNORE INTO reports VALUES ({marks})"
        if len(rows) > 1 and room.left(connection):
            connection.execute("SAVEPOINT these")
            before = connection.total_changes
            connection.executemany(sql, rows)
            accepted = connection.total_changes - before
            if room.holds(connection, accepted):
                room.count(connection, accepted)
                return accepted, len(rows) - accepted
            connection.execute("ROLLBACK TO these")
            connection.execute("RELEASE these")
        return self._insert_each(connection, room, sql, rows)

    @staticmethod
    def _insert_each(
        connection: sqlite3.Connection, room: _Room, sql: str, rows: list[Row]
    ) -> tuple[int, int]:
        """Take rows one by one until there is no room; one that was seen before needs none."""
        accepted = replayed = 0
        full = not room.left(connection)
        for row in rows:
            if connection.execute("SELECT 1 FROM reports WHERE id = ?", row[:1]).fetchone():
                replayed += 1
            elif not full:
                connection.execute("SAVEPOINT this")
                connection.execute(sql, row)
                full = not room.holds(connection, accepted + 1)
                if full:
                    connection.execute("ROLLBACK TO this")
                connection.execute("RELEASE this")
                accepted += not full
        room.count(connection, accepted)
        return accepted, replayed

    def reports(self) -> int:
        """Return how many donations were taken."""
        with self._connection() as connection:
            return int(connection.execute("SELECT COUNT(*) FROM reports").fetchone()[0])

    def least_alike(self) -> int:
        """Return how many donations answer the same questions, of the fewest that do."""
        answered = ", ".join(f"q{index} IS NULL" for index in range(len(self.plan.choices)))
        sql = f"SELECT COUNT(*) AS alike FROM reports GROUP BY {answered}"
        with self._connection() as connection:
            found = connection.execute(f"SELECT MIN(alike) FROM ({sql})").fetchone()[0]
        return int(found or 0)

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
            pairs = np.array(connection.execute(sql).fetchall(), dtype=np.int64).reshape(-1, 2)
            return numbers_tally(pairs[:, 0], pairs[:, 1], cells)
        answers, total = 0, randomizer.tally(reports_of([], randomizer.shape.length))
        cursor = connection.execute(f"SELECT q{index} FROM reports WHERE q{index} IS NOT NULL")
        while some := cursor.fetchmany(_AT_ONCE):
            answers += len(some)
            total = total + randomizer.tally(
                reports_of([row[0] for row in some], randomizer.shape.length)
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
            reports_of([row[at] for row in found], self.plan.choices[index].randomizer.shape.length)
            for at, index in enumerate((first, second))
        ]
        return (sides[0], sides[1]), np.array([row[2] for row in found], dtype=np.int64)

    def _table(self) -> str:
        columns = ", ".join(f"q{index}" for index in range(len(self.plan.choices)))
        return f"CREATE TABLE reports (id BLOB PRIMARY KEY, {columns}) WITHOUT ROWID"

    def _connection(self) -> AbstractContextManager[sqlite3.Connection]:
        return _connected(self.folder)


@contextmanager
def _connected(folder: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(folder / _REPORTS, timeout=_WAIT)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA secure_delete=ON")
        with connection:
            yield connection
    finally:
        connection.close()


def size_of(folder: Path) -> tuple[int, int]:
    """Return how many donations a survey's folder holds, and the bytes of their files on the disk."""
    with _connected(folder) as connection:
        files = [path.stat().st_size for path in folder.glob(f"{_REPORTS}*")]
        return _taken(connection), sum(files)


@dataclass(frozen=True, slots=True)
class _Room:
    """How many reports a survey holds and may hold, in numbers and in pages of its file."""

    taken: int
    most: int
    pages: int

    @classmethod
    def of(cls, connection: sqlite3.Connection, plan: SurveyPlan) -> _Room:
        connection.execute(_COUNTED)  # stores of earlier versions have none yet
        page = connection.execute("PRAGMA page_size").fetchone()[0]
        survey = plan.survey
        return cls(_taken(connection), survey.most_reports, (survey.most_mb << 20) // page)

    def left(self, connection: sqlite3.Connection) -> bool:
        """Return whether any report may fit."""
        return self.taken < self.most and self.holds(connection, 0)

    def holds(self, connection: sqlite3.Connection, accepted: int) -> bool:
        """Return whether the file, as it is in this transaction, keeps to both limits."""
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        return self.taken + accepted <= self.most and pages <= self.pages

    def count(self, connection: sqlite3.Connection, accepted: int) -> None:
        """Write down how many there are now."""
        connection.execute("DELETE FROM taken")
        connection.execute("INSERT INTO taken VALUES (?)", (self.taken + accepted,))


def _taken(connection: sqlite3.Connection) -> int:
    """Return how many reports there are; stores of earlier versions did not write it down."""
    try:
        found = connection.execute("SELECT reports FROM taken").fetchone()
    except sqlite3.OperationalError:
        found = None
    return int((found or connection.execute("SELECT COUNT(*) FROM reports").fetchone())[0])


def _is_full(error: OSError | sqlite3.OperationalError) -> bool:
    """Return whether SQLite or the system says that the disk has no room."""
    if isinstance(error, OSError):
        return disk_is_full(error)
    return error.sqlite_errorcode in _NO_ROOM


def survey_names(base: Path) -> list[str]:
    """Return the names of all surveys below `base`, in order; those that begin with a dot are being made."""
    found = (path.parent.name for path in (base / FOLDER).glob(f"*/{FILE}"))
    return sorted(name for name in found if not name.startswith("."))


def _row(found: Donation | Refusal) -> Row | Refusal:
    return found if isinstance(found, Refusal) else (found.id, *found.reports)


def _words(path: Path, question: SurveyQuestion) -> bytes:
    read_candidates(path, question.name)  # refused here, before anything is made
    return path.read_bytes()


def _taken_name(name: str) -> InvalidInput:
    return InvalidInput(
        f"There is a survey '{name}' already.",
        hint="Give the file another name, or delete its folder below 'surveys'.",
    )
