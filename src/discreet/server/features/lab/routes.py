"""The attack lab over HTTP: what there is, run one, look at its outcome."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Path, Request
from pydantic import Field

from discreet.attack.attacks import Attack, all_attacks, attack_named
from discreet.server.access.auth import API, allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.asking.request_id import IdempotencyKey
from discreet.server.feature import largest_form
from discreet.server.features.lab.outcomes import Shown, result_id
from discreet.server.features.lab.own_files import forget_files, submit_own
from discreet.server.features.lab.work import lab_of, run_attack, sliders, turned
from discreet.server.plain_json import Body
from discreet.server.settings import Settings

router = api_router("lab")

Name = Annotated[str, Path(min_length=1, max_length=40)]


class Run(Body):
    """How to run an attack: its settings by name; those left out keep their defaults."""

    settings: dict[str, int | float | str] = Field({})


def larger_bodies(settings: Settings) -> dict[str, int]:
    """Return the route that takes files of an owner's own, and how many bytes."""
    return {f"{API}/lab/{{name}}/own": largest_form(settings)}


def set_up(app: FastAPI) -> None:
    """Delete the files of a run that was killed."""
    forget_files(app.state.context.settings.state_folder)


@router.get("/lab")
@allow(Role.OWNER, Role.ANALYST)
def attacks(request: Request) -> dict[str, Any]:
    """List the attacks and their settings; all of them run on the made-up town."""
    del request
    return {"attacks": [attack_json(attack) for attack in all_attacks()]}


@router.post("/lab/{name}", status_code=202)
@allow(Role.OWNER, Role.ANALYST)
def start(
    request: Request, name: Name, run: Run, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Start an attack on the made-up town; follow the job, then read its result."""
    attack, key = attack_named(name), idempotency_key or ""
    settings = turned(attack, run.settings)
    result, given = result_id(attack, settings), dict(settings.values)
    return {"job": run_attack(request, attack, given, result=result, request_id=key).id}


@router.post("/lab/{name}/own", status_code=202)
@allow(Role.OWNER)
async def start_own(request: Request, name: Name) -> dict[str, Any]:
    """Start an attack on your own files, sent as parts of a form beside `settings` in JSON.

    They are read for this run and deleted when it ends; the outcome is for owners only.
    """
    return {"job": (await submit_own(request, attack_named(name))).id}


@router.get("/lab/results/{result}")
@allow(Role.OWNER, Role.ANALYST)
def result(request: Request, result: Name) -> dict[str, Any]:
    """Return one outcome: how often the attack was right, beside guessing and the private version."""
    owner = caller(request).role is Role.OWNER
    found: Shown = lab_of(request).find(result, owner=owner)
    return dict(found.outcome) | {"words": found.words}


def attack_json(attack: Attack) -> dict[str, Any]:
    """Return an attack and the settings that the lab offers."""
    return {
        "name": attack.name,
        "title": attack.title,
        "words": attack.words,
        "settings": [
            {
                "name": knob.name,
                "words": knob.words,
                "default": knob.default,
                "low": knob.low,
                "high": knob.high,
                "step": knob.step,
                "choices": list(knob.choices),
            }
            for knob in sliders(attack)
        ],
    }
