"""The collector over HTTP: one report or a batch of them; what is wrong is refused one by one, and counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from discreet.errors import (
    CollectorClosed,
    DiscreetError,
    InvalidInput,
    RequestConflict,
    TooLarge,
)
from discreet.server.access.auth import API, Id, address_of, api_router, everybody
from discreet.server.features.survey.intake import intake_of
from discreet.server.features.survey.reading import (
    CBOR,
    LARGEST_BATCH,
    LARGEST_REPORT,
    batch_of,
    body_of,
    cost_of_many,
    cost_of_one,
    json_of,
    kind_of,
)
from discreet.server.features.survey.shelf import shelf_of
from discreet.server.features.survey.turns import turns_of
from discreet.server.settings import Settings
from discreet.survey.collect.batch import donations_of, twins_of
from discreet.survey.collect.check import Refusal
from discreet.survey.collect.store import SurveyStore, Taken

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
