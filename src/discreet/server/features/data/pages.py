"""The Data page: what can be asked, limits to change, the review through which more comes in, and who did what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from discreet.server.access.audit_log import MOST_READ, AuditAction, Line
from discreet.server.access.auth import GuardedRoute, allow
from discreet.server.access.tokens import Role
from discreet.server.context import context_of
from discreet.server.feature import OWNERS, Feature, Place
from discreet.server.features.data import bounds_routes, manage_routes, routes, share_routes
from discreet.server.readable import readable_budget, readable_catalog
from discreet.server.rendering import page
from discreet.server.views import amount, datasets_view, minute_of

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (
        routes.router,
        share_routes.router,
        manage_routes.router,
        bounds_routes.router,
        router,
    ),
    places=(Place("Data", "/data", 80, OWNERS),),
    set_up=routes.set_up,
    larger=routes.larger_bodies,
)

SHOWN_LINES = 30

Facts = Mapping[str, str]

_USUAL = {
    deed.value
    for deed in (
        AuditAction.TOKENS_LISTED,
        AuditAction.SIGNED_IN,
        AuditAction.SIGNED_OUT,
        AuditAction.SIGN_IN_FAILED,
    )
}


@router.get("/data")
@allow(Role.OWNER)
def data(request: Request) -> Response:
    """Show what can be asked, and the review through which more comes in."""
    catalog = readable_catalog(request)
    return page(
        request,
        "data.html",
        "Data",
        datasets=datasets_view(catalog),
        unfinished=catalog["unfinished"],
        warnings=catalog["warnings"],
        analysts=catalog["analysts"],
        limits_of=limits_view(readable_budget(request)),
        bounded=_bounded(request),
        versions_of=_versions(request),
        plain=lambda value: f"{value:.12g}",
        log=audit_view(context_of(request).access.audit.last(MOST_READ)),
        max_upload_mb=context_of(request).settings.max_upload_mb,
    )


def _versions(request: Request) -> dict[str, list[dict[str, Any]]]:
    """Return the versions that questions read, by dataset."""
    found: dict[str, list[dict[str, Any]]] = {}
    with context_of(request).workspace.curator() as curator:
        for each in curator.versions():
            began = None if each["began"] is None else minute_of(each["began"])
            found.setdefault(each["dataset"], []).append(each | {"began": began})
    return found


def _bounded(request: Request) -> list[str]:
    """Return the tables of people, as dataset.table: those of which a bound may leave rows out."""
    with context_of(request).workspace.curator() as curator:
        return [
            f"{dataset.name}.{table.name}"
            for dataset in curator.catalog.datasets.values()
            for table in dataset.tables
            if table.unit is not None and not table.unit.is_row
        ]


def limits_view(budget: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the limits of GET /budget, for an owner, as the form that changes them needs them."""
    return [
        {
            "name": name,
            "epsilon": facts["epsilon"],
            "delta": facts["delta"],
            "others": [
                other
                for other, its in budget["datasets"].items()
                if other != name and its["budget"] == facts["budget"]
            ],
            "shares": [
                {"analyst": analyst, "epsilon": shares[name]["epsilon"]}
                for analyst, shares in budget["analysts"].items()
                if name in shares
            ],
        }
        for name, facts in budget["datasets"].items()
    ]


def audit_view(lines: Iterable[Line]) -> list[dict[str, str]]:
    """Return lines of the audit log, latest first, in words; what one does daily is one line a day."""
    shown: list[dict[str, Any]] = []
    usual: dict[tuple[str, str, str], dict[str, Any]] = {}
    for line in lines:
        rule = _WORDS.get(line.what)
        words = _plain(line) if rule is None else rule(line.facts)
        key = (line.who, words, line.time[:10])
        if key in usual:
            usual[key]["times"] += 1
            continue
        if len(shown) == SHOWN_LINES:
            break
        shown.append({"when": minute_of(line.time), "who": line.who, "what": words, "times": 1})
        if line.what in _USUAL:
            usual[key] = shown[-1]
    return [item | {"times": _times(item["times"])} for item in shown]


def _times(number: int) -> str:
    return "" if number == 1 else f", {'twice' if number == 2 else f'{number:,} times'} that day"


def _plain(line: Line) -> str:
    """Return a deed that a newer version has written."""
    return " ".join([line.what, *(f"{name} {said}" for name, said in sorted(line.facts.items()))])


def _made(facts: Facts) -> str:
    whose = f"for {facts['analyst']}" if "analyst" in facts else f"for the role {facts['role']}"
    until = f", valid until {facts['until']}" if "until" in facts else ""
    return f"made a token {whose}{until} ({facts['id']})"


def _failed(facts: Facts) -> str:
    more = facts.get("unwritten_before")
    before = f"; {int(more):,} more before that" if more else ""
    return f"could not sign in, from {facts['address'] or 'an unknown address'}{before}"


def _refused(facts: Facts) -> str:
    why = "not with this role" if facts["why"] == "role" else "not without the session's own form"
    return f"was refused {facts['route']}, {why}"


def _moved(facts: Facts) -> str:
    """Return from what to what; delta only where it moved."""
    parts = []
    for name, sign in (("epsilon", "ε"), ("delta", "δ")):
        old, new = facts.get(f"{name}_before"), facts.get(f"{name}_after")
        if new is None:
            continue
        said = (lambda text: amount(float(text))) if name == "epsilon" else str
        if old is None and name == "epsilon":
            parts.append(f"to {sign} {said(new)}")
        elif old not in (None, new):
            parts.append(f"from {sign} {said(str(old))} to {said(new)}")
    return " and ".join(parts) or "to what it was"


_WORDS: dict[str, Callable[[Facts], str]] = {
    AuditAction.TOKEN_MADE.value: _made,
    AuditAction.TOKENS_LISTED.value: lambda _: "looked at the list of tokens",
    AuditAction.TOKEN_REVOKED.value: lambda facts: f"revoked the token {facts['id']}",
    AuditAction.SIGNED_IN.value: lambda _: "signed in",
    AuditAction.SIGN_IN_FAILED.value: _failed,
    AuditAction.SIGNED_OUT.value: lambda _: "signed out",
    AuditAction.REFUSED.value: _refused,
    AuditAction.UPLOADED.value: lambda _: "brought a file",
    AuditAction.UPLOAD_CONFIRMED.value: lambda facts: (
        f"confirmed a file as {facts['dataset']}, with ε {facts['epsilon']} in all"
    ),
    AuditAction.UPLOAD_REMOVED.value: lambda facts: (
        "threw a file away" + (f": {facts['why']}" if "why" in facts else "")
    ),
    AuditAction.BUDGET_CHANGED.value: lambda facts: (
        f"changed the budget of {facts['dataset']} {_moved(facts)}"
    ),
    AuditAction.BUDGET_RENEWED.value: lambda facts: (
        f"renewed the budget of {facts['dataset']} for {facts['period']}, {_moved(facts)}"
    ),
    AuditAction.SHARE_CHANGED.value: lambda facts: (
        f"set the share of {facts['analyst']} in {facts['dataset']} {_moved(facts)}"
    ),
    AuditAction.DATASET_RENAMED.value: lambda facts: (
        f"renamed {facts['dataset']} to {facts['name']}; its budget stays"
    ),
    AuditAction.VERSION_BEGUN.value: lambda facts: (
        f"began version {facts['version']} of {facts['dataset']}"
    ),
    AuditAction.DATASET_REFRESHED.value: lambda facts: f"gave {facts['dataset']} a new file",
    AuditAction.DATASET_EDITED.value: lambda facts: (
        f"declared columns of {facts['dataset']} anew: {facts['columns']}"
    ),
    AuditAction.DATASET_REMOVED.value: lambda facts: f"removed {facts['dataset']}",
    AuditAction.SHARE_REMOVED.value: lambda facts: (
        f"took away the share of {facts['analyst']} in {facts['dataset']}"
    ),
    AuditAction.SURVEY_BEGUN.value: lambda facts: f"began the survey {facts['survey']}",
    AuditAction.SURVEY_CLOSED.value: lambda facts: f"closed the survey {facts['survey']}",
}
