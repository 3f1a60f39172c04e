"""Training a model, as a job: paid, learned, kept; in that order."""

from __future__ import annotations

import time
from typing import Any

from discreet.learn.run import Trained
from discreet.server.access.auth import Principal
from discreet.server.context import Context
from discreet.server.features.learn.body import WantedModel
from discreet.server.features.learn.shelf import KeptModel, Models, fill_with
from discreet.server.jobs.queue import Job
from discreet.server.jobs.watched import watched
from discreet.server.plain_json import finite


def submit_training(context: Context, models: Models, who: Principal, wanted: WantedModel) -> Job:
    """Return the job that trains the model; refused at once where that can be known."""
    models.room(wanted.analyst)

    def work(job: Job) -> dict[str, Any]:
        def tell(step: str) -> None:
            if step in ("charging", "charged"):
                job.tell(step)
            else:
                job.check()

        with context.workspace.curator() as curator:
            job.stop = lambda thread: curator.engine.cancel(thread=thread)
            try:
                share = curator.seen_by(wanted.analyst)
                seen = watched(share, tell=tell, turn=job.turn, asker=who.name)
                trained = wanted.train(seen, job.advance)
            finally:
                job.stop = None
        kept = models.keep(_facts(wanted, trained), lambda place: fill_with(trained.model, place))
        found: dict[str, Any] = finite(trained.to_json() | {"model_id": kept.id})
        return found

    return context.runner.submit(who.key, work, request_id=wanted.request_id, keep=True, long=True)


def _facts(wanted: WantedModel, trained: Trained) -> KeptModel:
    facts = trained.model.facts
    right = facts["accuracy"]
    return KeptModel(
        id=wanted.model_id,
        dataset=str(facts["dataset"]),
        table=str(facts["table"]),
        target=trained.model.target.name,
        kind=trained.model.kind,
        epsilon=str(wanted.body.epsilon),
        accuracy=right["value"],
        low=right["low"],
        high=right["high"],
        baseline=facts["baseline"],
        created=time.time(),
        analyst=wanted.analyst,
    )
