"""The lab's pages: the list of attacks, and one attack with its sliders and its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from discreet.attack.attacks import Knob, all_attacks, attack_named
from discreet.server.access.auth import GuardedRoute, allow, caller
from discreet.server.access.tokens import Role
from discreet.server.feature import Feature, Place
from discreet.server.features.lab import routes
from discreet.server.features.lab.outcomes import Shown, usual_id
from discreet.server.features.lab.own_files import files_of, words_of
from discreet.server.features.lab.work import lab_of, sliders
from discreet.server.rendering import page

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (routes.router, router),
    places=(Place("Teach & attack", "/lab", 60),),
    set_up=routes.set_up,
    larger=routes.larger_bodies,
)

FIRST = "linkage"
"""The attack that the lab opens with."""


@router.get("/lab")
@allow(Role.OWNER, Role.ANALYST)
def index(request: Request) -> Response:
    """Show one attack with its result and one person's story, then every attack with its one line."""
    lab, first = lab_of(request), attack_named(FIRST)
    kept = lab.known(usual_id(first))
    return page(
        request,
        "lab.html",
        "Teach & attack",
        attacks=all_attacks(),
        attack=first,
        outcome=None if kept is None else outcome_view(kept),
    )


@router.get("/lab/{name}")
@allow(Role.OWNER, Role.ANALYST)
def one(request: Request, name: str, result: str = "") -> Response:
    """Show one attack: its outcome, with the usual settings unless others were run, and its sliders."""
    attack = attack_named(name)
    lab, result = lab_of(request), result or usual_id(attack)
    owner = caller(request).role is Role.OWNER
    found = lab.known(result)
    if found is not None and ((found.own and not owner) or found.attack != attack.name):
        found = None
    settings = {} if found is None else found.outcome["settings"]
    names = [each.name for each in all_attacks()]
    following = names[(names.index(attack.name) + 1) % len(names)]
    return page(
        request,
        "lab_attack.html",
        attack.title,
        attack=attack,
        knobs=[knob_view(knob, settings.get(knob.name)) for knob in sliders(attack)],
        outcome=None if found is None else outcome_view(found),
        pictures=Markup("" if found is None else found.pictures),  # noqa: S704  # ours, escaped
        following=following,
        files=files_of(attack) if owner else (),
        words=words_of(attack) if owner else (),
    )


def knob_view(knob: Knob, value: Any) -> dict[str, Any]:
    """Return one setting as the form shows it."""
    now = knob.default if value is None else value
    return {
        "name": knob.name,
        "words": knob.words,
        "value": now,
        "choices": list(knob.choices),
        "low": "" if knob.low is None else f"{knob.low:g}",
        "high": "" if knob.high is None else f"{knob.high:g}",
        "step": "any" if knob.step is None else f"{knob.step:g}",
        "slides": knob.low is not None and knob.high is not None,
        "whole": isinstance(knob.default, int),
    }


def outcome_view(shown: Shown) -> dict[str, Any]:
    """Return an outcome as the page shows it: two scores side by side, each beside its baseline."""
    found = shown.outcome
    private = found["private"]
    return {
        "knew": found["knew"],
        "released": found["released"],
        "did": found["did"],
        "lesson": found["lesson"],
        "person": shown.person,
        "words": shown.words,
        "private_words": shown.private_words,
        "bars": [
            _bar("on this release", found),
            *([] if private is None else [_bar("on the private version", private)]),
        ],
    }


def _bar(name: str, score: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "shown": f"{100 * score['success']:.1f}".removesuffix(".0"),
        "width": f"{100 * score['success']:.2f}%",
        "low": f"{100 * score['low']:.2f}%",
        "span": f"{100 * max(0.0, score['high'] - score['low']):.2f}%",
        "baseline": f"{100 * score['baseline']:.2f}%",
    }
