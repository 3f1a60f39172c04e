"""A class in one step, for the owner: analysts with a share each, their links, and the class's end."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Request
from pydantic import Field, StrictStr

from discreet.catalog.catalog import Catalog
from discreet.catalog.declare.analysts import share_notes, with_analysts
from discreet.core.numbers import Epsilon
from discreet.core.requests.server import ClassFields
from discreet.report.sign_in_sheet import KEEP, SheetCard, sign_in_sheet
from discreet.server.access.auth import allow, api_router, caller
from discreet.server.access.student_classes import (
    all_classes,
    class_label,
    end_class,
    student_names,
    tell_shares,
)
from discreet.server.access.tokens import NewToken, Role
from discreet.server.bodies.request_body import body_of
from discreet.server.change import change
from discreet.server.context import context_of

router = api_router("course")

MOST = 200
"""Students of one class on the page: each needs a picture. The command has no such limit."""
ClassName = Annotated[str, Path(max_length=40)]


_Class: Any = body_of(ClassFields, size={"default": ..., "most": MOST}, epsilon={"default": ...})


class ClassBody(_Class):  # type: ignore[misc]  # its fields are the request's
    """A class: how many students, what each may spend, and of which data set (all unless named)."""

    dataset: StrictStr | None = Field(None, max_length=200)


@router.get("/classes")
@allow(Role.OWNER)
def listed(request: Request) -> dict[str, Any]:
    """List the classes there are and were, the latest first; never their tokens."""
    return {"classes": [each.to_json() for each in all_classes(context_of(request).tokens)]}


@router.post("/classes", status_code=201)
@allow(Role.OWNER)
def begin(request: Request, wanted: ClassBody) -> dict[str, Any]:
    """Begin a class; the links of its students are shown this once.

    All students are declared or none; the total of a data set limits them together as ever.
    """
    context, by = context_of(request), caller(request).actor
    label, names = class_label(wanted.name), student_names(wanted.name, wanted.size)
    epsilon = Epsilon.of(wanted.epsilon)

    def shared_of(old: Catalog) -> list[str]:
        return list(old.datasets) if wanted.dataset is None else [wanted.dataset]

    def edit(text: str, old: Catalog) -> str:
        return with_analysts(text, old, names, epsilon=epsilon, datasets=shared_of(old))

    changed = change(context.workspace, edit)
    shared = shared_of(changed.before)
    tell_shares(context.access.audit, names, str(wanted.epsilon), shared, by=by)
    made = context.tokens.new_many(
        Role.ANALYST, names, expires_days=wanted.expires_days, label=label, by=by
    )
    cards = [_card(request, each) for each in made]
    title = f"Class {wanted.name}: {wanted.size} students"
    about = f"Each may spend epsilon {float(epsilon):g} of {', '.join(shared)}."
    return {
        "name": wanted.name,
        "title": title,
        "about": about,
        "keep": KEEP,
        "notes": share_notes(changed.after),
        "students": [
            {"name": card.name, "link": card.link, "qr": {"path": card.path, "side": card.side}}
            for card in cards
        ],
        "sheet": sign_in_sheet(title, about, cards),
    }


@router.delete("/classes/{name}")
@allow(Role.OWNER)
def end(request: Request, name: ClassName) -> dict[str, Any]:
    """End a class: all its tokens are useless at once and for good; what was spent stays spent."""
    ended = end_class(context_of(request).tokens, name, by=caller(request).actor)
    return {"name": name, "ended": ended}


def _card(request: Request, made: NewToken) -> SheetCard:
    name = made.token.analyst or ""
    return SheetCard.of(name, f"{str(request.base_url).rstrip('/')}/ask?token={made.text}")
