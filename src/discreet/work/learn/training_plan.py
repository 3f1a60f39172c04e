"""Training request and plan: what is asked, what would be done and what it would cost.

From public facts alone: nothing is read, and what can be refused is refused here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from discreet.ask.plan.ir import Scan
from discreet.ask.release.desk import Desk
from discreet.ask.release.snapshots import hold, label, snapshots_of
from discreet.ask.sql.relations import declared_scan
from discreet.base.event import Region
from discreet.base.numbers import Delta, Epsilon
from discreet.base.requests.fields import checked
from discreet.base.requests.paid import LocalLearnFields
from discreet.base.schema import Dataset, Table, TextDomain
from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.sources import check_table
from discreet.data.engines.base import Held
from discreet.errors import InvalidInput
from discreet.measure.budget import DELTA_PART, SynthBudget, check_epsilon_useful, noise_of
from discreet.measure.columns import Bins, Coded, Outline, outline_of
from discreet.measure.sealing import SealedCodes
from discreet.privacy.account.batch import NoisySteps
from discreet.privacy.ledger.entry import Payer
from discreet.privacy.ledger.reports import exposure_note
from discreet.work.learn.features import SEEN, check_target, chosen_items, encoding_of
from discreet.work.learn.learners.network import COUNTING_SHARE as NETWORK_COUNTING
from discreet.work.learn.learners.network import MOST_CLASSES, NetworkShape, network_budget
from discreet.work.learn.learners.registry import (
    AUTO,
    CLASSIFY,
    COUNTING,
    LEARNERS,
    REGRESS,
    of_task,
)
from discreet.work.learn.one_look import PlannedLook
from discreet.work.learn.private_rows import seal_unit_codes
from discreet.work.synth.prepare import copy_budget, preview_of, sealed_reads


@dataclass(frozen=True, kw_only=True)
class LearnRequest(LocalLearnFields):
    """One training and who pays for it, checked; `task`: of a classifier or of a regression."""

    task: str = CLASSIFY

    if TYPE_CHECKING:
        epsilon: Epsilon
        delta: Delta | None
        features: tuple[str, ...]
        choose: tuple[str, ...]
        request_id: str

    @classmethod
    def of(cls, table: str, *, task: str = CLASSIFY, **words: Any) -> LearnRequest:
        """Return a checked request from the fields of `LocalLearnFields`; no budget has a silent default."""
        asked = LocalLearnFields(table=table, **words)
        for name in ("target", "model"):
            if not isinstance(getattr(asked, name), str):
                raise InvalidInput(f"The {name} of a training is a text.")
        kinds = (AUTO, *of_task(CLASSIFY if task == CLASSIFY else REGRESS))
        if task not in {CLASSIFY, REGRESS} or asked.model.lower() not in kinds:
            raise InvalidInput(
                f"There is no model '{asked.model[:40]}' for this.",
                hint=f"Models: {', '.join(kinds)}.",
            )
        if asked.target.lower() in {name.lower() for name in asked.features}:
            raise InvalidInput("The target cannot be one of the features.")
        found = checked(asked) | {
            "task": task,
            "model": asked.model.lower(),
            "features": tuple(asked.features),
            "choose": tuple(name.lower() for name in asked.choose),
        }
        return cls(**found)

    @property
    def body(self) -> str:
        """Return what must be the same when a request id is used again: all of it costs budget."""
        paid = {
            "table": self.table,
            "target": self.target,
            "task": self.task,
            "model": self.model,
            "features": list(self.features),
            "choose": list(self.choose),
            "epsilon": str(self.epsilon.value),
            "delta": None if self.delta is None else str(self.delta.value),
        }
        return "learn " + json.dumps(paid, sort_keys=True)


MOST_ROWS = 10**8
"""Rows that no table of people is believed to have: an epsilon that needs more is a mistake."""


@dataclass(frozen=True, slots=True)
class Training:
    """A planned training: how each column is treated, what it costs, who pays. Nothing was read.

    The columns of `outline` are the features, and last the target.
    """

    request: LearnRequest
    outline: Outline
    look: PlannedLook[SealedCodes]
    steps: NoisySteps | None = None

    def rows_needed(self) -> int:
        """Return about how many rows it takes until a tenth of them stands out from the noise.

        From public facts alone: the noise that each count by class gets for its share.
        """
        target = self.outline.items[-1]
        classes = target.values if isinstance(target, Coded) else 2
        counting = COUNTING if self.steps is None else NETWORK_COUNTING
        share = counting / max(len(self.outline.items) - 1, 1)
        noise = noise_of(self.look.budget.fitting.part(share), self.look.sealed.unit)
        return math.ceil(10 * SEEN * noise * math.sqrt(classes))


@contextmanager
def planned_training(request: LearnRequest, desk: Desk) -> Iterator[Training]:
    """Lend the plan and the price of a training while its table is held as it is now."""
    with hold(private_scan(desk.catalog, request.table), desk) as held:
        yield plan_training(request, desk, held)


def needed_columns(request: LearnRequest, desk: Desk) -> tuple[str, ...]:
    """Return the columns that a model of this request is about; reads no row, costs nothing."""
    with planned_training(request, desk) as plan:
        return tuple(item.name for item in plan.outline.items)


def find_private(catalog: Catalog, written: str) -> tuple[Dataset, Table]:
    """Return the dataset and the private table that `written` means, or refuse."""
    dataset, table = catalog.named(written)
    if table.public:
        raise InvalidInput(
            f"Table '{table.name}' is public: learning from it needs no privacy.",
            hint="Use scikit-learn or the like on it.",
        )
    return dataset, table


def private_scan(catalog: Catalog, written: str) -> Scan:
    """Return the declared rows of a private table, or refuse."""
    return declared_scan(*find_private(catalog, written))


def plan_training(request: LearnRequest, desk: Desk, held: Held) -> Training:
    """Return the plan and the price of a training. Depends on public facts only."""
    dataset, table = find_private(desk.catalog, request.table)
    declared = desk.catalog.budget_of(dataset)
    delta = Delta(declared.delta.value * DELTA_PART) if request.delta is None else request.delta
    check_table(dataset, table, desk.engine)
    outline = _outline(request, desk.catalog, (dataset, table), has_delta=bool(delta.value))
    said = exposure_note(desk.ledger, dataset.name)
    if said is not None:
        outline = replace(outline, notices=(*outline.notices, said))
    snapshots = snapshots_of(outline.scan, held)
    # Features and target as far as they are public.
    coded = preview_of(outline).coded
    preview = encoding_of(outline.table.name, coded[:-1], coded[-1]).coded
    codes = sealed_reads(outline, desk.engine, preview)
    steps = None
    learner = LEARNERS.get(request.model)
    if learner is not None and learner.stepped:
        region = codes.source.region(snapshots)
        budget, steps = _stepped(request, delta, outline, codes, region)
        if outline.scan.unit is not None:
            codes.source.check(seal_unit_codes(outline.scan, desk.engine, preview).source)
    else:
        budget = copy_budget(request.epsilon, delta, [outline], codes.source.region(snapshots))
    payer = Payer(request.analyst, dataset.name, dataset.budget)
    paid_as, name, snapshot = request.request_id, table.name, f"learn {label(snapshots)}"
    look = PlannedLook(codes, budget, payer, paid_as, name, snapshot, held, desk.ledger)
    plan = Training(request, outline, look, steps)
    _check_rows(plan)
    check_epsilon_useful(budget, codes.unit, request.epsilon)
    return plan


def _check_rows(plan: Training) -> None:
    """Refuse an epsilon that is too small for the rows that the asker knows of, or for any table.

    How many rows there are is private, so only what was said of them can refuse.
    """
    epsilon, known, needed = plan.request.epsilon, plan.request.rows, plan.rows_needed()
    if needed <= min(known or MOST_ROWS, MOST_ROWS):
        return
    few = "" if known is None else f" for {known:,} rows"
    raise InvalidInput(
        f"Epsilon {epsilon} is too small{few}: it would take about {needed:,} rows until a model "
        "sees more than noise.",
        hint="Use a larger epsilon, or fewer features. Nothing was charged.",
    )


def _stepped(
    request: LearnRequest, delta: Delta, outline: Outline, codes: SealedCodes, region: Region
) -> tuple[SynthBudget, NoisySteps]:
    """Return what is paid for noisy steps: from the sizes that are public, before anything is read."""
    target = outline.items[-1]
    classes = target.values if isinstance(target, Coded) else MOST_CLASSES
    return network_budget(
        request.epsilon,
        delta,
        NetworkShape(len(outline.items) - 1, classes),
        region=region,
        neighbours=codes.unit.neighbours,
        learns=bool(outline.ranges or outline.words),
        words=len(outline.words),
    )


def _outline(
    request: LearnRequest,
    catalog: Catalog,
    place: tuple[Dataset, Table],
    *,
    has_delta: bool,
) -> Outline:
    dataset, table = place
    if not has_delta:
        _check_words(table, (request.target, *request.features))
    found = outline_of(
        catalog,
        f"{dataset.name}.{table.name}",
        bins=Bins.AUTO,
        has_delta=has_delta,
    )
    items = chosen_items(found, request.target, request.features)
    check_target(items[-1])
    names = {item.name for item in items}
    used = tuple(n for n in found.notices if not any(f"'{name}'" in n for name in names))
    notices = tuple(n for n in used if "are made up" not in n)  # what identifies is not read here
    return replace(found, items=items, notices=notices)


def _check_words(table: Table, names: tuple[str, ...]) -> None:
    """Refuse text without a declared list of values: what is not declared is learned with delta."""
    texts = {c.name.lower() for c in table.columns if isinstance(c.domain, TextDomain)}
    for name in names:
        if name.lower() in texts:
            raise InvalidInput(
                f"Column '{name[:60]}' of table '{table.name}' is text without a list of values, and "
                "learning its values needs delta.",
                hint="Use --delta 1e-9, or declare its values in discreet.toml. Nothing was charged.",
            )
