"""A planned linked synthesis: tables, columns and price, from public facts alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from discreet.catalog.catalog import Catalog
from discreet.core.schema import Dataset
from discreet.engine.base import Held
from discreet.errors import InvalidInput
from discreet.ledger.entry import Payer
from discreet.ledger.reports.text import exposure_note
from discreet.release.desk import Desk
from discreet.release.snapshots import label, snapshots_of
from discreet.synth.budget import SynthBudget, check_epsilon_useful
from discreet.synth.encoding.column_treatment import Outline
from discreet.synth.encoding.columns import Coded, Encoding
from discreet.synth.linked.event_rows import event_columns, seal_first, seal_later
from discreet.synth.linked.joined_rows import columns_of, seal_linked
from discreet.synth.linked.table_tree import LinkedTable, TableTree
from discreet.synth.measure.sealing import SealedCodes, SealedSource
from discreet.synth.prepare import checked_outline, copy_budget, delta_of, preview_of
from discreet.synth.request import SynthRequest
from discreet.synth.rules import read_rules


@dataclass(frozen=True, slots=True)
class PreparedLinked:
    """A planned linked synthesis: tables, treatment of columns, price. Nothing was read."""

    request: SynthRequest
    tree: TableTree
    outlines: Mapping[str, Outline]
    budget: SynthBudget
    shares: Mapping[str, Fraction]
    source: SealedSource
    payer: Payer
    snapshot: str
    notices: tuple[str, ...]


def linked_dataset(catalog: Catalog, request: SynthRequest) -> Dataset:
    """Return the dataset that is meant; refuse what a linked copy does not take."""
    found = catalog.datasets.get(request.table)
    if found is None:
        raise InvalidInput(f"There is no dataset '{request.table}'.")
    if request.method not in {"auto", "adaptive"} or request.choose or request.options:
        raise InvalidInput(
            "Linked tables are copied by the method auto, without settings.",
            hint="Copy a single table for other methods.",
        )
    if request.where is not None or request.rules:
        raise InvalidInput("A linked copy takes no condition; rules stand in discreet.toml.")
    return found


def prepare_linked(
    request: SynthRequest, tree: TableTree, desk: Desk, *, held: Held
) -> PreparedLinked:
    """Return the plan and the price of a linked synthesis. Depends on public facts only."""
    dataset = tree.dataset
    delta = delta_of(request, dataset, desk)
    outlines = {
        node.name: checked_outline(dataset, node.table, request, delta, desk, many=True)
        for node in tree.tables
    }
    previews = {name: preview_of(outline) for name, outline in outlines.items()}
    for node in tree.tables:
        _check_rules(node, previews[node.name])
    sealed = []
    for node in tree.tables:
        columns, most = columns_of(node, tree, previews), declared_rows(node)
        sealed.append(seal_linked(node, tree, columns, most, desk))
        if node.table.events is not None:
            _check_events(node, outlines[node.name])
            split = event_columns(node, columns)
            for seal in (seal_first, seal_later):
                found = seal(node, tree, split, most, desk)
                sealed[0].source.check(found.source)
    for each in sealed:
        sealed[0].source.check(each.source)
    numbers: dict[str, str] = {}
    for outline in outlines.values():
        numbers |= snapshots_of(outline.scan, held)
    region = sealed[0].source.region(numbers)
    budget = copy_budget(request.epsilon, delta, [*outlines.values()], region)
    worst = max((each.unit for each in sealed), key=lambda unit: unit.l1)
    check_epsilon_useful(budget, worst, request.epsilon)
    said = exposure_note(desk.ledger, dataset.name)
    return PreparedLinked(
        request=request,
        tree=tree,
        outlines=outlines,
        budget=budget,
        shares=_shares(tree, sealed),
        source=sealed[0].source,
        payer=Payer(request.analyst, dataset.name, dataset.budget),
        snapshot=f"synth {label(numbers)}",
        notices=() if said is None else (said,),
    )


def _check_rules(node: LinkedTable, preview: Encoding) -> None:
    """Refuse rules that cannot be read, or that would move the days of events."""
    own = Encoding(node.name, preview.coded)
    decided = read_rules(node.table.rules, own).decided
    if node.table.events in {own.coded[column].name for column in decided}:
        raise InvalidInput(
            f"A rule of '{node.name}' decides '{node.table.events}', by which its events are ordered.",
            hint="Drop the rule, or events.",
        )


def _check_events(node: LinkedTable, outline: Outline) -> None:
    """Refuse events whose day is not read, or whose range would have to be learned."""
    if node.parent is None:
        raise InvalidInput(
            f"Table '{node.name}' has one row for each person: nothing follows it.",
            hint="Declare events in a table below it.",
        )
    names = {item.name for item in outline.items if isinstance(item, Coded)}
    if node.table.events not in names:
        raise InvalidInput(
            f"The events of '{node.name}' cannot be put in order: analysts cannot ask about their "
            "day, or its range is too wide.",
            hint="Let the column that 'events' names be a date, not hidden, whose first and last day "
            "are less than 150 years apart.",
        )


def _shares(tree: TableTree, sealed: list[SealedCodes]) -> dict[str, Fraction]:
    """Return each table's part of the budget: more where more rows of a person count.

    The noise of a table goes with the rows of a person, so equal parts would drown the children;
    parts in proportion to the root are the usual compromise (`singles.by_root`).
    """
    weights = [math.isqrt(math.isqrt(each.unit.rows * 10**8)) for each in sealed]
    return {
        node.name: Fraction(weight, sum(weights))
        for node, weight in zip(tree.tables, weights, strict=True)
    }


def declared_rows(node: LinkedTable) -> int:
    """Return how many rows of a person count at most, as declared."""
    assert node.table.max_rows is not None, "checked when the tree was made"
    return node.table.max_rows
