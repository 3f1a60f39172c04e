"""A recommender of FILE|TABLE that is kept, or one that was kept before."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.api import open as open_curator
from discreet.errors import InvalidInput
from discreet.learn.model_files import read_model, write_model
from discreet.learn.recommender import (
    Recommender,
    RecommendRequest,
    check_viewer,
    planned_recommender,
)
from discreet.report.document import check_target
from discreet.tasks.bare_file.bare_place import WrittenSource, declared_place
from discreet.tasks.learning.written_model import WrittenModel, usual_name


def recommend_kept(
    source: WrittenSource,
    asked: dict[str, Any],
    *,
    out: Path | None = None,
    viewer: Mapping[str, float] | None = None,
) -> WrittenModel:
    """Return a recommender after writing it; ratings of a `viewer` that it could not take are refused first."""
    check_target(out or "recommender.zip", apart=[source.written])
    declared = declared_place(source, str(asked["epsilon"]), asked["delta"])
    with declared as (place, table), open_curator(place) as curator:
        if viewer:
            with planned_recommender(RecommendRequest.of(table, **asked), curator) as plan:
                check_viewer(viewer, plan.items, *plan.scale)
        found = curator.recommend(table, **asked)
    target = out or usual_name(table, "recommender")
    write_model(found.model, target)
    return WrittenModel(found.model, found, target)


def kept_recommender(path: Path) -> Recommender:
    """Return the recommender in a file."""
    found = read_model(path)
    if not isinstance(found, Recommender):
        raise InvalidInput(f"'{path.name}' is a model, but no recommender.")
    return found
