"""The collector of survey reports over HTTP: read within limits, in turn, admitted while there is room, refused one by one."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from fastapi import Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from discreet.errors import (
    CollectorClosed,
    DiscreetError,
    InvalidInput,
    RequestConflict,
    TooLarge,
    UnknownName,
)
from discreet.server.access.auth import API, Id, address_of, api_router, everybody
from discreet.server.access.limits import Buckets, network_of
from discreet.server.bodies import object_of, require_whole_letters
from discreet.server.settings import Settings
from discreet.server.workspace import kept_once
from discreet.survey.command import estimate_survey
from discreet.survey.donation_checks import MOST, Refusal, count_said, donations_of, twins_of
from discreet.survey.results import EstimateRequest
from discreet.survey.store import FOLDER, LATER, SurveyStore, Taken, size_of, survey_names

Stamp = tuple[tuple[int, int], ...]

SETTLED = 1.0
"""Seconds for which estimates are given out again: many watch, one counts."""
_SHOWN = EstimateRequest(consistent=True)  # shares of a picture are at least 0 and add up
_FILES = ("survey.toml", "state.json")


@dataclass(frozen=True, slots=True)
class _Opened:
    store: SurveyStore
    stamp: Stamp


class SurveyShelf:
    """Lends the stores of surveys by name; safe to share among threads."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self._lock = threading.Lock()
        self._opened: dict[str, _Opened] = {}
        self._estimates: dict[str, tuple[float, Mapping[str, Any]]] = {}

    def names(self) -> list[str]:
        """Return the names of all surveys, in order."""
        return survey_names(self.base)

    def store(self, name: str) -> SurveyStore:
        """Return the store of a survey, or refuse a name that there is not."""
        stamp = self._stamp(name)
        with self._lock:
            kept = self._opened.get(name)
        if kept is not None and stamp and kept.stamp == stamp:
            return kept.store
        store = self._open(name)
        with self._lock:
            self._opened[name] = _Opened(store, stamp)
        return store

    def _open(self, name: str) -> SurveyStore:
        """Open a store; strangers ask for it too, so refusals tell neither other names nor paths."""
        try:
            return SurveyStore.open(name, self.base)
        except UnknownName:
            raise UnknownName("There is no survey of this name.") from None
        except InvalidInput:
            raise InvalidInput(
                "The files of this survey were changed after it began.",
                hint="Its owner sees more with 'discreet survey estimate'.",
            ) from None

    def estimates(self, name: str) -> Mapping[str, Any]:
        """Return the estimates of a survey, at most a second old."""
        now = time.monotonic()
        with self._lock:
            kept = self._estimates.get(name)
        if kept is not None and now - kept[0] < SETTLED:
            return kept[1]
        self.store(name)  # refused here where there is none
        found = estimate_survey(name, self.base, wanted=_SHOWN)
        with self._lock:
            self._estimates[name] = (now, found)
        return found

    def forget(self, name: str) -> None:
        """Count anew the next time: something was changed."""
        with self._lock:
            self._estimates.pop(name, None)

    def _stamp(self, name: str) -> Stamp:
        # A name that leads elsewhere is none of ours; opening it refuses it with a sentence.
        if name != Path(name).name or name.startswith("."):
            return ()
        try:
            facts = [(self.base / FOLDER / name / file).stat() for file in _FILES]
        except (OSError, ValueError):
            return ()
        return tuple((fact.st_mtime_ns, fact.st_ino) for fact in facts)


shelf_of = kept_once(lambda settings: SurveyShelf(settings.config.parent))
"""The surveys that this server keeps: 'surveys' beside discreet.toml."""


Given = ParamSpec("Given")
Found = TypeVar("Found")

IN_WORK = 4
"""Requests with reports that are worked on at a time; the server has 40 threads for short requests in all."""
WAITING, WAITING_EACH = 200, 100
"""Requests with reports that may wait for their turn: in all, and of one address (a classroom is one)."""


class ReportTurns:
    """Gives requests with reports their turn in the order of their coming.

    Guarantee: they hold at most `IN_WORK` threads of the server, and at most `WAITING` wait, of which
        one address has `WAITING_EACH`; whoever comes then is refused at once.
    """

    def __init__(self, _settings: Settings) -> None:
        self._turns = asyncio.Semaphore(IN_WORK)
        self._waiting: Counter[str] = Counter()

    async def take(
        self, address: str, act: Callable[Given, Found], *args: Given.args, **named: Given.kwargs
    ) -> Found:
        """Return what `act` returns, in a thread, when it is its turn; or refuse it."""
        sender = network_of(address)
        if self._waiting.total() >= WAITING or self._waiting[sender] >= WAITING_EACH:
            raise CollectorClosed(
                "The server takes no reports just now: too many arrive at once.", hint=LATER
            )
        self._waiting[sender] += 1
        try:
            await self._turns.acquire()
        finally:
            self._waiting -= Counter([sender])  # keeps no senders who wait for nothing
        try:
            return await run_in_threadpool(act, *args, **named)
        finally:
            self._turns.release()


turns_of = kept_once(ReportTurns)
"""The turns of this server's collector."""


CBOR, JSON = "application/cbor", "application/json"
LARGEST_REPORT = 64 << 10
"""Bytes of a single report, whatever the survey; a sketch of 16,384 buckets has about 2,100."""
LARGEST_BATCH = 16 << 20
"""Bytes of a batch."""
DEEPEST = 3
"""A list of reports, each an object with a list."""
PIECE = 4 << 10
"""Bytes that cost an address as much as one report, whatever is in them."""
LONGEST_NUMBER = 500
"""Digits in a row: those of a report are at most 20, and to read 4,000 takes 4,000 times as long as to read 60, not 70 times."""
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_OTHERS = bytes(sign for sign in range(256) if sign not in b"[]{}")


async def body_of(request: Request, most: int) -> bytes:
    """Return the body, or stop reading at `most` bytes."""
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or int(declared[:20]) > most:
        raise _too_large(most)
    parts, seen = [], 0
    async for part in request.stream():
        seen += len(part)
        if seen > most:
            raise _too_large(most)
        parts.append(part)
    return b"".join(parts)


def kind_of(request: Request) -> str:
    """Return CBOR or JSON; a form or plain text, which other sites could send, is neither."""
    named = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if named not in (CBOR, JSON):
        raise InvalidInput(f"Reports are sent as {CBOR} or as {JSON}.")
    return named


def json_of(body: bytes) -> Any:
    """Return what a body says in JSON, or refuse it with a sentence."""
    if b"0" * (LONGEST_NUMBER + 1) in body.translate(_DIGITS):
        raise InvalidInput("A number of the body is too long for a report.")
    try:
        # No report holds a fraction. A truth value stands for one, which is refused as well and costs less to make.
        found = json.loads(body.decode("utf-8-sig"), parse_float=bool, object_pairs_hook=object_of)
    except (ValueError, RecursionError):
        raise InvalidInput("The body is not JSON.") from None
    if b"\\u" in body:  # half a character comes from no other spelling: UTF-8 has none
        require_whole_letters(found)
    return found


def batch_of(body: bytes, *, answers: int) -> Any:
    """Return what a batch says in JSON: refused by its commas and brackets before it is parsed.

    Guarantee: what is parsed has no more values than `MOST` donations to a survey of so many `answers`,
        inside of each other as theirs are, so that memory follows the survey and not the sender. Nothing
        here takes a step of Python for each byte or bracket.
    """
    commas, objects, lists = (body.count(sign) for sign in (b",", b"{", b"["))
    if objects > MOST or lists > MOST + 1 or commas > MOST * (answers + 4):
        raise InvalidInput(f"A batch is a list of at most {MOST:,} reports.")
    if body.count(b"}") + body.count(b"]") != objects + lists or not _is_flat(body):
        raise InvalidInput("A batch is a list of reports, which hold a list each.")
    return json_of(body)


def cost_of_bytes(body: bytes) -> int:
    """Return how many reports a body counts as for the rate of its address, whatever is in it."""
    return max(1, len(body) // PIECE)


def cost_of_one(_kind: str, body: bytes) -> int:
    """Return how many reports a single one counts as."""
    return cost_of_bytes(body)


def cost_of_many(kind: str, body: bytes) -> int:
    """Return how many reports a batch counts as: what it says of itself, and one for each `PIECE` of its bytes."""
    said = count_said(body) if kind == CBOR else body.count(b"{")
    return max(said, cost_of_bytes(body))


def _is_flat(body: bytes) -> bool:
    """Return whether brackets close in turn, at most `DEEPEST` inside of each other.

    Each replacement takes away whatever brackets hold no others.
    """
    brackets = body.translate(_ONE_KIND, _OTHERS)
    for _ in range(DEEPEST):
        brackets = brackets.replace(b"[]", b"")
    return not brackets


def _too_large(most: int) -> TooLarge:
    size = f"{most >> 20} MB" if most >= 1 << 20 else f"{most >> 10} KB"
    return TooLarge(
        f"More than {size} at once are not taken.", hint="Send fewer reports at a time."
    )


MB = 1 << 20
COUNTED_AGAIN = 1.0
"""Seconds after which what lies on the disk is counted anew."""
GROWTH = 4
"""How many times its bytes a report takes on the disk at most, in the file and in its journal."""
ONE_REPORT = (1, GROWTH * LARGEST_REPORT)
"""One report of the largest size: the intake is closed where there is no room for it."""
USUAL_FLOOR, USUAL_PART = 1024 * MB, 20
_log = logging.getLogger("discreet.server")

DiskSpace = tuple[int, int]
"""The bytes of a disk in all, and those of them that are free."""


def disk_space(folder: Path) -> DiskSpace:
    """Return the space of the disk that a folder is on."""
    found = shutil.disk_usage(folder)
    return found.total, found.free


class ReportIntake:
    """Lets reports in while there is room; everything else of the server goes on when there is none.

    Guarantee: requests of strangers never take the last `floor` bytes of the disk (to within what other
        programs write meanwhile), and all surveys together never hold more than `survey_reports` reports and
        `survey_mb`: what is being taken counts at `GROWTH` times its bytes until it is counted on the disk.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._base = settings.config.parent
        self._rate = Buckets(settings.survey_rate, settings.survey_burst)
        self._burst = settings.survey_burst
        self._lock = threading.Lock()
        self._counted = (0, 0)
        self._at = float("-inf")
        self._inside = self._since = (0, 0)
        self._told = ""

    def trouble(self) -> str:
        """Return why nothing is taken just now, or nothing."""
        with self._lock:
            found = self._trouble(ONE_REPORT)
            if found != self._told:
                facts = {"facts": {"reason": found or "there is room again"}}
                _log.warning("surveys are %s", "closed" if found else "open", extra=facts)
            self._told = found
            return found

    def check(self) -> None:
        """Refuse a request before its body is read, if nothing is taken just now."""
        found = self.trouble()
        if found:
            raise CollectorClosed(found, hint=LATER)

    def take_rate(self, address: str, reports: int, *, taken: int = 0) -> None:
        """Take so many reports from the rate of an address, less those that their request took already, or refuse them.

        Guarantee: one request gets in no more reports than the burst of an address, and each is taken from its rate:
            an address sends at most the burst and then the rate, however its reports are divided into requests.
        """
        if reports > self._burst:
            raise TooLarge(
                f"This server takes at most {self._burst:,} reports at once.",
                hint=f"Send several batches; {PIECE >> 10} KB count as a report at least.",
            )
        if reports > taken:
            self._rate.take(network_of(address), reports - taken)

    def take_bytes(self, address: str, body: bytes) -> None:
        """Take what the bytes of a refused request cost, at most all that an address has."""
        self._rate.take(network_of(address), min(cost_of_bytes(body), self._burst))

    @contextmanager
    def admitted(self, reports: int, size: int) -> Iterator[None]:
        """Let so many reports of so many bytes in, or refuse them; they count until they are on the disk."""
        asked = (reports, GROWTH * size)
        with self._lock:
            found = self._trouble(asked)
            if found:
                raise CollectorClosed(found, hint=LATER)
            self._inside = _sum(self._inside, asked)
        try:
            yield
        finally:
            with self._lock:
                self._inside = _sum(self._inside, (-asked[0], -asked[1]))
                self._since = _sum(self._since, asked)

    @property
    def floor(self) -> int:
        """Return how many bytes of the disk must stay free."""
        stated = self._settings.free_disk_mb
        if stated is not None:
            return stated * MB
        return min(USUAL_FLOOR, disk_space(self._base)[0] // USUAL_PART)

    def _trouble(self, asked: tuple[int, int]) -> str:
        now = time.monotonic()
        if now - self._at >= COUNTED_AGAIN:
            self._counted, self._since, self._at = held_in_all(self._base), (0, 0), now
        coming = _sum(self._inside, asked)
        if disk_space(self._base)[1] - coming[1] < self.floor:
            return "The server takes no reports just now: its disk is nearly full."
        reports, size = _sum(_sum(self._counted, self._since), coming)
        settings = self._settings
        if reports > settings.survey_reports or size > settings.survey_mb * MB:
            return "The server takes no reports just now: its surveys hold as many as they may."
        return ""


def held_in_all(base: Path) -> tuple[int, int]:
    """Return how many reports all surveys hold, and the bytes of their files; what cannot be read is left out."""
    found = (0, 0)
    for name in survey_names(base):
        try:
            found = _sum(found, size_of(base / FOLDER / name))
        except (OSError, sqlite3.Error):
            continue
    return found


def _sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


intake_of = kept_once(ReportIntake)
"""The intake of this server's collector."""


router = api_router("survey")
REPORTS = 64 << 20
"""Bytes to a survey's collector, which has limits of its own and counts what goes beyond them."""


def larger_bodies(_settings: Settings) -> dict[str, int]:
    """Return the routes that take reports, and how many bytes."""
    one = f"{API}/surveys/{{name}}/reports"
    return {one: REPORTS, f"{one}/batch": REPORTS}


@dataclass(frozen=True, slots=True)
class ReportRoute:
    """How the bodies of one route are taken: how many bytes, what they cost, and into which donations they are split."""

    most: int
    cost: Callable[[str, bytes], int]
    split: Callable[[SurveyStore, str, bytes], list[Any]]


_FINAL: dict[Refusal, tuple[type[DiscreetError], str]] = {
    Refusal.MALFORMED: (InvalidInput, "This is no report."),
    Refusal.TOO_LARGE: (TooLarge, "A report to this survey is smaller."),
    Refusal.VERSION: (InvalidInput, "This collector reads reports of version 1 only."),
    Refusal.SURVEY: (
        InvalidInput,
        "This is a report to another survey, or to an earlier form of it.",
    ),
    Refusal.SHAPE: (InvalidInput, "No device of this survey could have made this report."),
    Refusal.EMPTY: (InvalidInput, "Nothing is answered in this report."),
    Refusal.CLOSED: (RequestConflict, "The survey is closed."),
    Refusal.FULL: (CollectorClosed, "This survey holds as many reports as its owner allows."),
}
"""What a single report is refused with. One that was seen before is no error: sending again is safe."""


@router.get("/surveys/{name}/document")
@everybody
def document(request: Request, name: Id) -> Response:
    """Return the survey as devices are given it: the bytes whose hash is its id."""
    plan = shelf_of(request).store(name).plan
    return Response(plan.document, media_type="application/json")


@router.post("/surveys/{name}/reports")
@everybody
async def one_report(request: Request, name: Id) -> dict[str, Any]:
    """Take one report (application/cbor, or its JSON twin); a one-use id that was seen is taken once."""
    taken = await _taken(request, name, ONE)
    for reason in taken.refused:
        if reason in _FINAL:
            kind, sentence = _FINAL[reason]
            raise kind(sentence)
    return _told(taken)


@router.post("/surveys/{name}/reports/batch")
@everybody
async def many_reports(request: Request, name: Id) -> dict[str, Any]:
    """Take a batch of reports; a bad one spoils no other, and each is counted by its reason."""
    return _told(await _taken(request, name, MANY))


async def _taken(request: Request, name: str, route: ReportRoute) -> Taken:
    intake, address = intake_of(request), address_of(request)
    turns = turns_of(request)

    def opened() -> SurveyStore:
        store = shelf_of(request).store(name)
        intake.check()
        return store

    def let_in(kind: str, body: bytes) -> Taken:
        try:
            donations = route.split(store, kind, body)
            # A list says how long it is only when it is parsed.
            intake.take_rate(address, len(donations), taken=charged)
        except (TooLarge, InvalidInput) as error:
            store.refuse(_counted_as(error))
            raise
        with intake.admitted(len(donations), len(body)):
            return store.take_cbor(donations) if kind == CBOR else store.take_json(donations)

    store, body = await turns.take(address, opened), b""
    try:
        kind = kind_of(request)
        body = await body_of(request, route.most)
        charged = route.cost(kind, body)
        intake.take_rate(address, charged)
    except (TooLarge, InvalidInput) as error:
        intake.take_bytes(address, body)  # it is counted, so it costs what a report costs at least
        await turns.take(address, store.refuse, _counted_as(error))
        raise
    return await turns.take(address, let_in, kind, body)


def _counted_as(error: DiscreetError) -> Refusal:
    return Refusal.TOO_LARGE if isinstance(error, TooLarge) else Refusal.MALFORMED


def _one(_store: SurveyStore, kind: str, body: bytes) -> list[Any]:
    return [body] if kind == CBOR else [json_of(body)]


def _many(store: SurveyStore, kind: str, body: bytes) -> list[Any]:
    if kind == CBOR:
        return donations_of(body)
    return twins_of(batch_of(body, answers=len(store.plan.choices)))


ONE = ReportRoute(LARGEST_REPORT, cost_of_one, _one)
MANY = ReportRoute(LARGEST_BATCH, cost_of_many, _many)


def _told(taken: Taken) -> dict[str, Any]:
    refused = {str(reason): times for reason, times in taken.refused.items()}
    return {"accepted": taken.accepted, "refused": refused}
