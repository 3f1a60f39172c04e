"""Attacks on the owner's own files: sent for one run, read, and deleted; the outcome is the owner's."""

from __future__ import annotations

import json
import shutil
import uuid
from pathlib import Path
from typing import Any

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from discreet.attack.attacks import Attack, Knob, TextNames
from discreet.errors import InvalidInput
from discreet.server.context import context_of
from discreet.server.features.lab.work import run_attack, sliders
from discreet.server.jobs.queue import Job
from discreet.server.plain_json import object_of, require_whole_letters

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
