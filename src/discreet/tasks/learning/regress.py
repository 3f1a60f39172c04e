"""A regression on FILE|TABLE: types and ranges of a bare file are paid for first, then it is fitted, kept, tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.api import open as open_curator
from discreet.catalog.bare_file import BareTable, is_untyped
from discreet.catalog.policy_file import load
from discreet.errors import InvalidInput, UnknownName
from discreet.learn.model_files import write_model
from discreet.learn.read_file import check_columns
from discreet.learn.regression import regressed_columns, tested_regressor
from discreet.learn.training_plan import LearnRequest
from discreet.report.document import check_target
from discreet.tasks.bare_file.bare_place import WrittenSource, typed_place
from discreet.tasks.learning.written_model import HeldOutFile, WrittenModel, usual_name


def regress_kept(
    source: WrittenSource,
    asked: dict[str, Any],
    *,
    test: HeldOutFile | None = None,
    out: Path | None = None,
) -> WrittenModel:
    """Return a regression after writing it, and again once it is tested.

    The delta that is asked for is that of a bare file alone.
    """
    check_target(out or "model.zip", apart=[source.written, None if test is None else test.path])
    # before a discreet.toml is written for it
    LearnRequest.of("", task="regress", **_without_delta(asked))
    if test is not None:
        _check_public(test)
    named = [asked["target"], *asked["features"]]
    typed = typed_place(
        source,
        asked,
        foresee=_NamedColumns(named, test),
        pure=True,
        ranges=named if asked["features"] else (),
    )
    with typed as place, open_curator(place.config) as curator:
        fit = _without_delta(place.asked)
        if test is not None:
            request = LearnRequest.of(place.table, task="regress", **fit)
            check_columns(test.path, regressed_columns(request, curator.catalog))
        found = place.told(curator.regress(place.table, **fit))
    target = out or usual_name(place.table, f"{asked['target']}-model")
    write_model(found.model, target)  # before the test: it is paid for, whatever the test says
    if test is None:
        return WrittenModel(found.model, found, target)
    score = tested_regressor(found.model, test.path)
    model = replace(found.model, facts={**found.model.facts, **score})
    write_model(model, target)
    return WrittenModel(model, found, target, score)


@dataclass(frozen=True, slots=True)
class _NamedColumns:
    """Refuses columns that a bare file, or the test file, does not have, before anything is paid for."""

    names: Sequence[str]
    test: HeldOutFile | None

    def __call__(self, config: Path, table: str, asked: dict[str, Any]) -> None:
        catalog = load(config)
        dataset, declared = catalog.named(table)
        known = {column.name.lower() for column in declared.columns}
        for wanted in self.names:
            if wanted.lower() not in known:
                raise UnknownName(
                    f"Column '{wanted[:60]}' of table '{declared.name}' is not declared."
                )
        unit = "" if declared.unit is None else (declared.unit.column or "")
        if unit.lower() in {name.lower() for name in self.names}:
            raise InvalidInput(f"'{unit}' says whose row it is: a regression is not about it.")
        if not is_untyped(BareTable(config, dataset.name, declared.name, created=False)):
            request = LearnRequest.of(table, task="regress", **_without_delta(asked))
            needed = regressed_columns(request, catalog, ranged=False)
            if self.test is not None:
                check_columns(self.test.path, needed)
        elif self.test is not None:
            check_columns(self.test.path, self.names)
            if not asked["features"]:
                shown = [each.name for each in declared.columns if not each.hidden]
                _check_all(self.test.path, [name for name in shown if name != unit])


def _check_all(test: Path, names: Sequence[str]) -> None:
    """Refuse a test file that lacks a column which may turn out to be a number, once types are paid for."""
    try:
        check_columns(test, names)
    except InvalidInput as error:
        raise InvalidInput(
            f"'{test.name}' lacks columns that the model may need: that is not known before types are paid for.",
            hint=f"Say with --features what to predict from. The table has: {', '.join(names)}. Nothing was charged.",
        ) from error


def _without_delta(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what is asked of the regression itself: the delta is that of a bare file alone."""
    return {name: value for name, value in asked.items() if name != "delta"}


def _check_public(test: HeldOutFile) -> None:
    """Refuse an exact test on rows that nobody has declared public."""
    if not test.public:
        raise InvalidInput(
            f"'{test.path.name}' is not declared public, so it cannot be tested on exactly.",
            hint="If its rows are public, say --test-public. Nothing was charged.",
        )
