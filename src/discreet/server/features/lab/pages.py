"""The attack lab: attacks on the example town or the owner's own files as jobs, over HTTP and as pages."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Request
from fastapi import Path as UrlPath
from fastapi.responses import Response
from markupsafe import Markup
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import (
    Attack,
    AttackSettings,
    Knob,
    TextNames,
    all_attacks,
    attack_named,
)
from discreet.server.access.auth import API, GuardedRoute, allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.bodies import Body, object_of, require_whole_letters
from discreet.server.feature import Feature, Place, largest_form, page
from discreet.server.features.lab.in_child import Lab, Shown, result_id, usual_id
from discreet.server.jobs.long import IdempotencyKey, LongTask, submit_long
from discreet.server.jobs.queue import Job
from discreet.server.settings import Settings
from discreet.server.workspace import context_of, kept_once

lab_of = kept_once(lambda settings: Lab(settings.state_folder))


def sliders(attack: Attack) -> tuple[Knob, ...]:
    """Return the knobs that a page may turn: numbers and choices; files stay with the command."""
    return tuple(knob for knob in attack.knobs if not knob.text)


def turned(attack: Attack, given: Mapping[str, Any]) -> AttackSettings:
    """Return the settings of a run; refuses what the lab does not offer."""
    offered = {knob.name for knob in sliders(attack)}
    for name in given:
        if name not in offered:
            raise InvalidInput(
                f"The lab has no setting '{name}' for this attack.",
                hint="Attacks on your own files are run by the command: discreet attack.",
            )
    return AttackSettings.of(attack.knobs, given)


def run_attack(
    request: Request,
    attack: Attack,
    given: Mapping[str, Any],
    *,
    result: str,
    own: bool = False,
    request_id: str = "",
) -> Job:
    """Return the job that runs an attack in a child, which holds no catalog, and keeps its outcome."""
    lab, answer = lab_of(request), {"result": result, "attack": attack.name}

    def keep(shown: dict[str, Any]) -> dict[str, Any]:
        lab.keep(Shown(**shown), durable=not own and result == usual_id(attack))
        return answer

    asked = {"name": attack.name, "given": dict(given), "result": result, "own": own}
    return submit_long(
        request,
        LongTask("discreet.server.features.lab.in_child:attack", asked, reads=False),
        request_id=request_id,
        known=lambda: None if lab.known(result) is None else answer,
        then=keep,
    )


FOLDER = "lab-files"
MOST_FILES = 6
"""Files of one form."""


def files_of(attack: Attack) -> tuple[Knob, ...]:
    """Return the knobs that want a file; an attack without any runs on the town alone."""
    return _texts(attack, TextNames.FILE)


def words_of(attack: Attack) -> tuple[Knob, ...]:
    """Return the knobs that want words, such as names of columns."""
    return _texts(attack, TextNames.WORDS)


def _texts(attack: Attack, names: TextNames) -> tuple[Knob, ...]:
    return tuple(knob for knob in attack.knobs if knob.text and knob.names is names)


def forget_files(state: Path) -> None:
    """Delete what a server that was killed has left behind."""
    shutil.rmtree(state / FOLDER, ignore_errors=True)


async def submit_own(request: Request, attack: Attack) -> Job:
    """Return the job that runs an attack on the files of this form; they are deleted when it ends."""
    folder = context_of(request).settings.state_folder / FOLDER / uuid.uuid4().hex
    async with request.form(max_files=MOST_FILES, max_fields=100) as form:
        given = _words(form, attack)
        paths = await run_in_threadpool(_stored, form, files_of(attack), folder)
    if not paths:
        shutil.rmtree(folder, ignore_errors=True)
        raise InvalidInput("Choose at least one file.", hint="Without one it runs on the town.")
    try:
        given |= paths
        job = run_attack(request, attack, given, result=uuid.uuid4().hex, own=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    job.future.add_done_callback(lambda _: shutil.rmtree(folder, ignore_errors=True))
    return job


def _words(form: FormData, attack: Attack) -> dict[str, Any]:
    """Return the settings that came as JSON beside the files; none of them may name a file."""
    try:
        found = json.loads(str(form.get("settings", "{}")), object_pairs_hook=object_of)
    except (ValueError, RecursionError):
        raise InvalidInput("The settings beside the files are not JSON.") from None
    require_whole_letters(found)
    plain = {*sliders(attack), *words_of(attack)}
    closed = {knob.name for knob in attack.knobs if knob not in plain}
    if not isinstance(found, dict) or closed & found.keys():
        raise InvalidInput("Files are sent, not named.", hint="Send each as a part of the form.")
    return {name: value for name, value in found.items() if value != ""}


def _stored(form: FormData, knobs: tuple[Knob, ...], folder: Path) -> dict[str, Any]:
    """Return where each file lies now; the names that senders chose are never paths."""
    paths = {}
    for knob in knobs:
        sent = form.get(knob.name)
        if not isinstance(sent, UploadFile) or not sent.filename:
            continue
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = folder / knob.name
        with place.open("xb") as file:
            shutil.copyfileobj(sent.file, file)
        paths[knob.name] = str(place)
    return paths


router = api_router("lab")

Name = Annotated[str, UrlPath(min_length=1, max_length=40)]


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


page_router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (router, page_router),
    places=(Place("Teach & attack", "/lab", 60),),
    set_up=set_up,
    larger=larger_bodies,
)

FIRST = "linkage"
"""The attack that the lab opens with."""


@page_router.get("/lab")
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


@page_router.get("/lab/{name}")
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
