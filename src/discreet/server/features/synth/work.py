"""Making a copy, and comparing one with the real rows, as jobs in child processes."""

from __future__ import annotations

from discreet.server.access.auth import Principal
from discreet.server.context import Context
from discreet.server.features.synth.body import SynthSettings
from discreet.server.features.synth.copies import Copies, Copy
from discreet.server.jobs.long import LongTask, submit_long
from discreet.server.jobs.queue import Job

_CHILD = "discreet.server.features.synth.in_child"


def submit(context: Context, copies: Copies, who: Principal, wanted: SynthSettings) -> Job:
    """Return the job that makes the copy; refused at once where that can be known."""
    copies.room(wanted.analyst)
    asked = {
        "state": context.settings.state_folder,
        "copy_id": wanted.copy_id,
        "table": wanted.wish.table,
        "target": wanted.wish.target,
        "asked": wanted.asked,
    }
    name = wanted.request_id
    task = LongTask(f"{_CHILD}:make", asked, charge=name, payer=wanted.analyst)
    return submit_long(context, who, task, request_id=name)


def compare(context: Context, who: Principal, copy: Copy) -> Job:
    """Return the job that compares a copy with the real rows; the look is recorded first."""
    asked = {"state": context.settings.state_folder, "copy_id": copy.id}
    return submit_long(context, who, LongTask(f"{_CHILD}:compare", asked))
