"""A classifier of FILE|TABLE: what would be refused is refused first, then it is trained, kept, tested, kept again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.api import Curator
from discreet.api import open as open_curator
from discreet.core.numbers import Epsilon
from discreet.core.progress import Progress, silent
from discreet.errors import DiscreetError
from discreet.learn.classifier import check_candidates
from discreet.learn.evaluation import publicly_tested
from discreet.learn.learners.network import AnyClassifier
from discreet.learn.model_files import write_model
from discreet.learn.read_file import check_columns
from discreet.learn.training import Trained
from discreet.learn.training_plan import LearnRequest, needed_columns
from discreet.report.document import check_target
from discreet.tasks.bare_file.bare_place import TypedPlace, WrittenSource, typed_place
from discreet.tasks.bare_file.bare_synth import ready_file
from discreet.tasks.learning.private_test import check_private_test, id_of_test
from discreet.tasks.learning.written_model import HeldOutFile, WrittenModel, usual_name

SCORES = ("accuracy", "baseline", "subgroups", "test_rows", "auc")
"""What a test says of a classifier."""


def classify(
    source: WrittenSource, asked: dict[str, Any], *, progress: Progress = silent
) -> Trained:
    """Return a classifier, charged before any row is read; its bill has the whole price."""
    return _trained(source, asked, test=None, progress=progress)[0]


def classify_kept(
    source: WrittenSource,
    asked: dict[str, Any],
    *,
    test: HeldOutFile | None = None,
    out: Path | None = None,
    progress: Progress = silent,
) -> WrittenModel:
    """Return a classifier after writing it, and again once it is tested."""
    check_target(out or "model.zip", apart=[source.written, None if test is None else test.path])
    found, place = _trained(source, asked, test=test, progress=progress)
    target = out or usual_name(place.table, f"{asked['target']}-model")
    write_model(found.model, target)  # before the test: it is paid for, whatever the test says
    if test is None:
        return WrittenModel(found.model, found, target)
    model = scored(found.model, test, place.asked)
    write_model(model, target)
    score = {key: model.facts[key] for key in SCORES if key in model.facts}
    return WrittenModel(model, found, target, score)


def _trained(
    source: WrittenSource, asked: dict[str, Any], *, test: HeldOutFile | None, progress: Progress
) -> tuple[Trained, TypedPlace]:
    request = LearnRequest.of("", **asked)
    # A mistake is refused before a discreet.toml is written for it.
    if request.choose:
        check_candidates(request.choose)
    if test is not None and not test.public:
        id_of_test(asked["request_id"])
    with (
        typed_place(source, asked, foresee=TrainingCheck(test)) as place,
        open_curator(place.config) as curator,
    ):
        if test is not None:
            check_trainings(curator, place.table, [place.asked], test)
        found = curator.learn(place.table, progress=progress, **place.asked)
        return place.told(found), place


@dataclass(frozen=True, slots=True)
class TrainingCheck:
    """Refuses a training, or its test, before the types of a bare file are paid for."""

    test: HeldOutFile | None

    def __call__(self, config: Path, table: str, asked: dict[str, Any]) -> None:
        """Refuse what `check_training` would refuse later."""
        with open_curator(config) as curator:
            check_trainings(curator, table, [asked], self.test)


def check_trainings(
    curator: Curator, table: str, wanted: Sequence[dict[str, Any]], test: HeldOutFile | None
) -> None:
    """Refuse trainings of which one would be refused, or its test; nothing is paid."""
    for asked in wanted:
        needed = needed_columns(LearnRequest.of(table, **asked), curator)
        if test is not None:
            check_columns(test.path, needed)
    check_private_test(curator, table, wanted, test)


def scored(model: AnyClassifier, test: HeldOutFile, asked: dict[str, Any]) -> AnyClassifier:
    """Return the model with what a test says: exact on public rows, else paid for by the people in them."""
    if test.public:
        return publicly_tested(model, test.path)
    epsilon = Epsilon.of(asked["epsilon"])
    ready = ready_file(
        test.path, config=None, epsilon=epsilon, delta=None, unit="row", accept=False, pure=True
    )
    with ready as found, open_curator(found.config) as curator:
        again = id_of_test(asked["request_id"])
        try:
            return curator.test_model(model, found.table, epsilon=found.epsilon, request_id=again)
        except DiscreetError as error:
            if found.first is not None:
                error.hint += f" The types of '{test.path.name}' are paid for, and stay."
            raise
