"""From a wanted model to a finished one: paid, trained, kept; in that order."""

from __future__ import annotations

from discreet.server.access.auth import Principal
from discreet.server.context import Context
from discreet.server.features.learn.body import WantedModel
from discreet.server.features.learn.shelf import Models
from discreet.server.jobs.long import LongTask, submit_long
from discreet.server.jobs.queue import Job


def submit_training(context: Context, models: Models, who: Principal, wanted: WantedModel) -> Job:
    """Return the job that trains the model; refused at once where that can be known."""
    paid = wanted.paid
    models.room(paid.analyst)
    asked = {
        "state": context.settings.state_folder,
        "model_id": paid.id,
        "table": wanted.body.table,
        "asked": wanted.asked | {"analyst": paid.analyst, "request_id": paid.request_id},
    }
    run = "discreet.server.features.learn.in_child:train"
    task = LongTask(run, asked, charge=paid.request_id, payer=paid.analyst)
    return submit_long(context, who, task, request_id=paid.request_id)
