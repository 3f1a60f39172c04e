"""A planned synthesis: what would be done and what it would cost, from public facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.catalog.catalog import Catalog, engine_name
from discreet.core.numbers import Delta
from discreet.core.schema import CategoryDomain, Dataset, Table
from discreet.core.unit import Neighbours
from discreet.engine.base import Engine
from discreet.errors import InvalidInput
from discreet.ledger.entry import Payer
from discreet.ledger.ledger import Ledger
from discreet.plan.regions import reach_of
from discreet.release.snapshots import label, snapshots_of
from discreet.synth import learn as learning
from discreet.synth.codes_sql import rows_of_unit
from discreet.synth.columns import Coded, Encoding, MadeUp
from discreet.synth.door import Unit
from discreet.synth.funds import DELTA_PART, Funds, check_hope, funds_of
from discreet.synth.methods import Method, find_method
from discreet.synth.outline import Outline, RangeToLearn, outline_of
from discreet.synth.request import SynthRequest
from discreet.synth.rules import read_condition, read_rules


@dataclass(frozen=True, slots=True)
class Prepared:
    """A planned synthesis: how each column is treated, what it costs, who pays. Nothing was read."""

    request: SynthRequest
    outline: Outline
    methods: tuple[tuple[str, Method], ...]
    funds: Funds
    unit: Unit
    payer: Payer
    snapshot: str
    rules: tuple[str, ...]

    @property
    def method_words(self) -> str:
        """Return the name of the method, or of those that are chosen among."""
        return " or ".join(name for name, _ in self.methods)

    @property
    def free(self) -> bool:
        """Return whether no method reads any data."""
        return not any(method.uses_data for _, method in self.methods)


def prepare(request: SynthRequest, *, catalog: Catalog, ledger: Ledger, engine: Engine) -> Prepared:
    """Return the plan and the price of a synthesis. Depends on public facts only."""
    methods = tuple((name, find_method(name)) for name in request.choose or (request.method,))
    _check_options(request, methods)
    dataset, table = _find(catalog, request.table)
    budget = catalog.budget_of(dataset)
    delta = Delta(budget.delta.value * DELTA_PART) if request.delta is None else request.delta
    name = engine_name(dataset, table)
    types = {column.lower(): kind for column, kind in engine.columns(name)}
    outline = outline_of(
        catalog,
        f"{dataset.name}.{table.name}",
        bins=request.bins,
        types=types,
        has_delta=bool(delta.value),
    )
    snapshots = snapshots_of(outline.scan, engine, ledger)
    unit = Unit(rows_of_unit(outline.scan), dataset.neighbours is Neighbours.REPLACE_ONE)
    rules = (*table.rules, *request.rules)
    _check_words(request, outline, rules)
    learns = bool(outline.ranges or outline.words)
    funds = funds_of(
        request.epsilon,
        delta,
        region=reach_of(outline.scan, catalog, snapshots).region,
        learn_share=learning.SHARE if learns else Fraction(0),
        words=len(outline.words),
    )
    check_hope(funds, unit, request.epsilon)
    found = Prepared(
        request=request,
        outline=outline,
        methods=methods,
        funds=funds,
        unit=unit,
        payer=Payer(request.analyst, dataset.name, dataset.budget),
        snapshot=f"synth {label(snapshots)}",
        rules=rules,
    )
    if found.free and request.rows is None:
        raise InvalidInput(
            f"The method '{request.method}' reads no data, so it does not know how many rows there "
            "are.",
            hint="Say how many with --rows (rows= in Python).",
        )
    return found


def _check_options(request: SynthRequest, methods: Sequence[tuple[str, Method]]) -> None:
    for name, method in methods:
        unknown = [option for option in request.options if option not in method.options]
        if unknown:
            known = ", ".join(method.options) or "none"
            raise InvalidInput(
                f"The method '{name}' has no setting '{unknown[0]}'.",
                hint=f"Its settings: {known}.",
            )


def _find(catalog: Catalog, written: str) -> tuple[Dataset, Table]:
    dataset, dot, name = written.rpartition(".")
    table = catalog.table(name, dataset if dot else None)
    return catalog.dataset_of(table), table


def _check_words(request: SynthRequest, outline: Outline, rules: tuple[str, ...]) -> None:
    """Refuse a condition or rule that cannot be read, before anything is paid."""
    preview = preview_of(outline)
    read_rules(rules, preview)
    if request.where is not None:
        read_condition(request.where, preview)


def preview_of(outline: Outline, *, words: bool = True) -> Encoding:
    """Return the encoding as far as it is public; what will be learned has a stand-in.

    Without `words`, columns whose values nobody declared are left out.
    """
    columns: list[Coded | MadeUp] = []
    for item in outline.items:
        if isinstance(item, Coded | MadeUp):
            columns.append(item)
        elif isinstance(item, RangeToLearn):
            columns.append(Coded(item.name, item.domain, (0,), missing=True))
        elif words:
            columns.append(Coded(item.name, CategoryDomain(("…",)), missing=True))
    return Encoding(outline.table.name, tuple(columns))
