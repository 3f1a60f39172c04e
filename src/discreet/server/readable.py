"""What a caller may read without paying: the catalog, what is spent, an answer that was paid for."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request

from discreet.api import question_of
from discreet.core.answers.answer import Answer
from discreet.errors import UnknownName
from discreet.server.access.auth import caller
from discreet.server.access.tokens import Role
from discreet.server.context import context_of

AnalystQuery = Annotated[str | None, Query(max_length=200)]
"""The analyst whose answer an owner asks for."""


def readable_catalog(request: Request) -> dict[str, Any]:
    """Return the datasets that the caller may see: tables, columns, domains, units, and what is left."""
    who = caller(request)
    with context_of(request).workspace.curator() as curator:
        if who.role is Role.REVIEWER:
            return curator.datasets_report()
        return curator.outline(who.analyst)


def readable_budget(request: Request) -> dict[str, Any]:
    """Return what is spent and left: the caller's own share, or everything for owner and reviewer."""
    who = caller(request)
    with context_of(request).workspace.curator() as curator:
        if who.role is Role.ANALYST:
            return {"analyst": who.analyst, **curator.share_report(who.analyst)}
        if who.role is Role.REVIEWER:
            # Which group is most exposed follows from all questions: for the owner's eyes only.
            return {
                "analyst": None,
                **curator.share_report(),
                "analysts": curator.analysts_report(),
            }
        found = dict(curator.budget_report())
        found.pop("without_budget", None)
        return found


def readable_answer(
    request: Request, request_id: str, analyst: str | None
) -> tuple[Answer, dict[str, Any]]:
    """Return a stored answer that the caller may read, and what was asked for it."""
    payer = caller(request).asks_as(analyst).analyst
    with context_of(request).workspace.curator() as curator:
        share = curator.account_of(payer)
        found = curator.stored_answer(request_id, analyst=share)
        question = question_of(curator, request_id, share)
    if found is None or question is None:
        raise UnknownName("You have no answer under this request id.")
    return found, question
