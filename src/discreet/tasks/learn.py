"""`discreet.learn(FILE, target=...)`, and what the commands of `discreet learn` do on FILE|TABLE.

Classifier, regression, recommender, and a report of one paid classifier for each epsilon: what would be refused
is refused first, then it is trained, kept, tested, kept again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.base.bill import NOTHING_SPENT, Bill, Charged
from discreet.base.display import Progress, silent
from discreet.base.numbers import Epsilon, Number, to_fraction
from discreet.base.requests.fields import WithProgress, asks_function, beside, given, schema
from discreet.base.requests.paid import LocalLearnFields
from discreet.curator import Curator
from discreet.curator import open as open_curator
from discreet.data.catalog.bare_file import BareTable, is_untyped
from discreet.data.catalog.policy_file import load
from discreet.errors import DiscreetError, InvalidInput, UnknownName
from discreet.show import write
from discreet.show.document import REPORT_FILES, check_target
from discreet.tasks.bare_file import (
    TypedPlace,
    WrittenSource,
    declared_place,
    ready_file,
    typed_place,
)
from discreet.tasks.model_test import (
    HeldOutFile,
    WrittenModel,
    check_private_test,
    declared_test,
    id_of_test,
    usual_name,
)
from discreet.work.learn.classifier import check_candidates
from discreet.work.learn.evaluation import ImpactPoint, impact_report, publicly_tested
from discreet.work.learn.learners.network import AnyClassifier
from discreet.work.learn.learners.registry import choices
from discreet.work.learn.model_files import read_model, write_model
from discreet.work.learn.read_file import check_columns
from discreet.work.learn.recommender import (
    Recommender,
    RecommendRequest,
    check_viewer,
    planned_recommender,
)
from discreet.work.learn.regression import regressed_columns, tested_regressor
from discreet.work.learn.training import Trained
from discreet.work.learn.training_plan import LearnRequest, find_private, needed_columns

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


@schema
class LearnFileCall(WithProgress, LocalLearnFields):
    """A training on what `source` means, and how a bare file is declared for it."""

    source: str | Path = beside("A file, or a declared table.", kw_only=False)
    table: str = beside("What `source` turns out to be.", default="", init=False)
    config: str | Path | None = beside("The discreet.toml, if not beside the file.", default=None)
    unit: str = beside("Whom a bare file protects: 'row', or a column.", default="row")
    accept: bool = beside("Declare what a bare file's rows hold public.", default=False)


@asks_function(LearnFileCall, choices())
def learn(asked: LearnFileCall) -> Trained:
    """Return a classifier of `target` trained on a file or a declared table, charged before any row is read.

    A bare file is declared first, in the discreet.toml of `config` or beside the file; of a text file
    the types are paid for, too. `unit` says whom it protects, `accept` declares what its rows hold
    public. The rest goes to `Curator.learn`.

    >>> discreet.learn("people.csv", target="income", epsilon=1)            # doctest: +SKIP
    classifier   boosted for income, accuracy 0.843
    uses         epsilon 1; leaves 0 of 1
    """
    config = None if asked.config is None else Path(asked.config)
    source = WrittenSource(str(asked.source), config, asked.unit, asked.accept)
    return classify(source, given(asked), progress=asked.progress)


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Impact(Charged):
    """Accuracy by subgroup at each epsilon, and the report that was written."""

    target: str
    points: tuple[ImpactPoint, ...]
    out: Path

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet learn impact --json` prints."""
        return {
            "target": self.target,
            "points": [point.to_json() for point in self.points],
            "cost": self.cost.to_json(),
            "out": str(self.out),
        }


def impact(
    source: WrittenSource,
    epsilons: Sequence[str],
    asked: dict[str, Any],
    *,
    test: HeldOutFile,
    out: Path,
    progress: Progress = silent,
) -> Impact:
    """Return whom a model serves how well at several epsilons, after writing the report."""
    check_target(out, REPORT_FILES, apart=[source.written, test.path])
    for epsilon in epsilons:
        LearnRequest.of("", epsilon=epsilon, **asked)
    delta = asked["delta"]
    paid = {
        "epsilon": sum_of(epsilons),
        "delta": delta and sum_of([delta] * len(epsilons)),
        "analyst": asked.get("analyst"),
        "request_id": None,
    }

    def foresee(config: Path, table: str, left: dict[str, Any]) -> None:
        with open_curator(config) as curator:
            check_room(curator, table, epsilons)  # types come out of the same whole
            check_trainings(
                curator, table, _wanted(shares_of(epsilons, left["epsilon"]), asked), test
            )

    with typed_place(source, paid, foresee=foresee, pure=True) as place:
        wanted = _wanted(shares_of(epsilons, place.asked["epsilon"]), asked)
        with open_curator(place.config) as curator:
            points, bill = _all_trained(curator, place.table, wanted, test=test, progress=progress)
        write(impact_report(asked["target"], place.table, points), out)
        return place.told(Impact(bill=bill, target=asked["target"], points=tuple(points), out=out))


def _all_trained(
    curator: Curator,
    table: str,
    wanted: Sequence[dict[str, Any]],
    *,
    test: HeldOutFile,
    progress: Progress,
) -> tuple[list[ImpactPoint], Bill]:
    """Return what each training came to, and the bill of all of them."""
    check_room(curator, table, [each["epsilon"] for each in wanted])
    check_trainings(curator, table, wanted, test)
    points, bills = [], []
    with declared_test(test, wanted):
        for each in wanted:
            trained = curator.learn(table, progress=progress, **each)
            bills.append(trained.bill)
            tested = scored(trained.model, test, each)
            points.append(ImpactPoint.of(float(Epsilon.of(each["epsilon"]).value), tested.facts))
    cost = sum((bill.cost for bill in bills), NOTHING_SPENT)
    return points, replace(bills[-1], cost=cost, before=bills[0].before)


def _wanted(epsilons: Sequence[str], asked: dict[str, Any]) -> list[dict[str, Any]]:
    return [asked | {"epsilon": epsilon, "request_id": None} for epsilon in epsilons]


def sum_of(amounts: Sequence[str]) -> str:
    """Return what several amounts are together, as exactly as they are written.

    >>> sum_of(["0.1", "0.2"])
    '3/10'
    """
    return str(sum((to_fraction(each) for each in amounts), Fraction(0)))


def shares_of(epsilons: Sequence[str], whole: Number | Epsilon) -> list[str]:
    """Return epsilons in the same proportions that add up to `whole`.

    >>> shares_of(["1", "3"], "2")
    ['1/2', '3/2']
    """
    each = [to_fraction(epsilon) for epsilon in epsilons]
    return [str(part * Epsilon.of(whole).value / sum(each)) for part in each]


def check_room(curator: Curator, table: str, epsilons: Sequence[str]) -> None:
    """Refuse a row of trainings that the budget has no room for, before the first is charged."""
    dataset, _ = find_private(curator.catalog, table)
    left = curator.ledger.balance(dataset.budget).left
    wanted = to_fraction(sum_of(epsilons))
    if wanted > left:
        raise InvalidInput(
            f"These models cost epsilon {float(wanted):g} together; {float(left):g} is left.",
            hint="Name fewer or smaller epsilons. Nothing was charged.",
        )
