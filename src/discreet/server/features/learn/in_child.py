"""What the child process of a learner or a choice does: paid, learned, kept; in that order."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from discreet.learn.model_files.model_zip import write_model
from discreet.learn.run import Trained
from discreet.server.access.asked_as import AskedAs
from discreet.server.features.learn.shelf import (
    RECOMMENDER,
    KeptModel,
    KeptRecommender,
    Models,
    Recommenders,
    fill_with,
)
from discreet.server.jobs.child import TaskContext
from discreet.server.plain_json import finite


def train(
    context: TaskContext,
    *,
    state: Path,
    kept_id: str,
    payer: AskedAs,
    asked: dict[str, Any],
) -> dict[str, Any]:
    """Return what a model is, after it was trained and put on its shelf."""
    trained = context.curator(payer.analyst).learn(progress=context.advance, **asked)
    kept = Models(state).keep(
        _facts(kept_id, trained, str(asked["epsilon"]), payer),
        lambda place: fill_with(trained.model, place),
        inside=context.folder,
    )
    return finite(trained.to_json() | {"model_id": kept.id})


def _facts(model_id: str, trained: Trained, epsilon: str, payer: AskedAs) -> KeptModel:
    facts = trained.model.facts
    right = facts["accuracy"]
    return KeptModel(
        id=model_id,
        dataset=str(facts["dataset"]),
        table=str(facts["table"]),
        target=trained.model.target.name,
        kind=trained.model.kind,
        epsilon=epsilon,
        accuracy=right["value"],
        low=right["low"],
        high=right["high"],
        baseline=facts["baseline"],
        created=time.time(),
        analyst=payer.analyst,
    )


def recommend(
    context: TaskContext,
    *,
    state: Path,
    kept_id: str,
    payer: AskedAs,
    asked: dict[str, Any],
) -> dict[str, Any]:
    """Return what a recommender is, after it was learned and put on its shelf."""
    found = context.curator(payer.analyst).recommend(**asked)
    model = found.model
    kept = KeptRecommender(
        id=kept_id,
        table=asked["table"],
        item=asked["item"],
        rating=asked["rating"],
        epsilon=str(asked["epsilon"]),
        low=model.low,
        high=model.high,
        items=len(model.items),
        known_well=tuple(model.items[i] for i in model.top),
        created=time.time(),
        analyst=payer.analyst,
    )
    Recommenders(state).keep(
        kept, lambda place: write_model(model, place / RECOMMENDER), inside=context.folder
    )
    return finite(found.to_json() | {"recommender_id": kept.id})


def choose(context: TaskContext, *, payer: AskedAs, asked: dict[str, Any]) -> dict[str, Any]:
    """Return a choice; the ledger keeps it, so the same request id gives it again."""
    return finite(context.curator(payer.analyst).select(**asked).to_json())
