"""A planned synthesis: its checked request, what would be done and what it would cost, from public facts alone."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from statistics import median_high
from typing import TYPE_CHECKING, Any

from discreet.ask.plan.ir import Scan
from discreet.ask.release.desk import Desk
from discreet.ask.release.snapshots import hold, label, snapshots_of
from discreet.base.event import EVERYONE, Region
from discreet.base.numbers import Delta, Epsilon
from discreet.base.requests.fields import checked
from discreet.base.requests.paid import LocalSynthFields
from discreet.base.schema import (
    CategoryDomain,
    Dataset,
    DateDomain,
    FiniteDomain,
    IntegerDomain,
    NumberDomain,
    Table,
)
from discreet.data.catalog.sources import check_table
from discreet.data.engines.base import Engine, Held
from discreet.errors import InvalidInput
from discreet.measure import learned_domains as learning
from discreet.measure.budget import (
    DELTA_PART,
    SynthBudget,
    check_epsilon_useful,
    noise_of,
    synth_budget,
)
from discreet.measure.columns import (
    Bins,
    Coded,
    Encoding,
    MadeUpIdentifier,
    Outline,
    RangeToLearn,
    outline_of,
    scan_of,
)
from discreet.measure.decoding import source_style
from discreet.measure.private_marginals import (
    CountSensitivity,
    MarginalBudget,
    PrivateMarginals,
)
from discreet.measure.sealing import SealedCodes, SealedSource, seal_codes, seal_words
from discreet.measure.shape import Columns, Counts, Shape, find_workload
from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.ledger.entry import Payer
from discreet.privacy.ledger.reports import exposure_note
from discreet.privacy.noise.rng import SystemRng
from discreet.work.synth.methods.registry import Method, find_method, refuse_missing
from discreet.work.synth.rules import allowed_codes, check_spelling, read_condition, read_rules
from discreet.work.synth.selection import check_choice


@dataclass(frozen=True, kw_only=True)
class SynthRequest(LocalSynthFields):
    """One synthesis and who pays for it, checked. `options` are settings of the method."""

    if TYPE_CHECKING:
        epsilon: Epsilon
        delta: Delta | None
        rules: tuple[str, ...]
        bins: Bins  # type: ignore[assignment]  # a word until it is checked
        choose: tuple[str, ...]
        options: Mapping[str, Any]
        request_id: str

    @classmethod
    def of(cls, table: str, **words: Any) -> SynthRequest:
        """Return a checked request from the fields of `LocalSynthFields`; no budget has a silent default."""
        asked = LocalSynthFields(table=table, **words)
        bins, found = asked.bins, checked(asked)
        choose = tuple(name.lower() for name in asked.choose)
        if choose:
            check_choice(list(choose))
        known = {each.value: each for each in Bins}
        if bins not in known:
            raise InvalidInput(f"bins must be one of: {', '.join(known)}.")
        found |= {
            "method": asked.method.lower(),
            "rules": tuple(asked.rules),
            "bins": known[bins],
            "choose": choose,
            "options": dict(asked.options or {}),
        }
        return cls(**found)

    @property
    def body(self) -> str:
        """Return what must be the same when a request id is used again: all that costs budget.

        Rows, conditions and rules are not part of it: other rows of the same model are free.
        """
        paid = {
            "table": self.table,
            "method": self.method,
            "epsilon": str(self.epsilon.value),
            "delta": None if self.delta is None else str(self.delta.value),
            "bins": self.bins.value,
            "choose": list(self.choose),
            "options": dict(self.options),
        }
        return "synth " + json.dumps(paid, sort_keys=True, default=str)


WRONG = 0.1
"""What share of a column's rows may stand in the wrong cell, on account of noise."""

MOST_GUESSED = 4
"""Columns of one condition whose types are tried out before they are paid for."""

_ANY_TYPE: tuple[FiniteDomain | None, ...] = (
    None,
    IntegerDomain(0, 9),
    NumberDomain(Fraction(0), Fraction(9), Fraction(1)),
    DateDomain(dt.date(2000, 1, 1), dt.date(2000, 1, 9)),
)
"""What a column of a text file may turn out to hold; None: texts."""

LEARNED = 20
"""Cells that are reckoned for a column whose values are yet to be learned."""


@dataclass(frozen=True, slots=True)
class PreparedSynthesis:
    """A planned synthesis: how each column is treated, what it costs, who pays. Nothing was read."""

    request: SynthRequest
    outline: Outline
    methods: tuple[tuple[str, Method], ...]
    budget: SynthBudget
    unit: CountSensitivity
    source: SealedSource
    payer: Payer
    snapshot: str
    rules: tuple[str, ...]
    csv: Mapping[str, Any]

    @property
    def method_words(self) -> str:
        """Return the name of the method, or of those that are chosen among."""
        return " or ".join(name for name, _ in self.methods)

    @property
    def free(self) -> bool:
        """Return whether no method reads any data."""
        return not any(method.uses_data for _, method in self.methods)

    def rows_needed(self) -> int:
        """Return from about how many rows on the middle column is right but for a tenth; 0 if none are read.

        From public facts alone: each column gets an equal part of the budget, the cells of a column share
        no noise, and half of the absolute noise of all cells together is what stands in the wrong place.
        Pairs of columns need more.
        """
        if self.free:
            return 0
        read = [item for item in self.outline.items if not isinstance(item, MadeUpIdentifier)]
        sizes = [item.values if isinstance(item, Coded) else LEARNED for item in read]
        if not sizes:
            return 0
        each = self.budget.fitting.part(Fraction(1, len(sizes)))
        absolute = noise_of(each, self.unit) * math.sqrt(2 / math.pi)
        return round_up(median_high(sizes) * absolute / 2 / WRONG)


def round_up(rows: float) -> int:
    """Return a number of two figures that is no smaller: more would pretend to know."""
    if rows <= 10:
        return math.ceil(rows)
    unit = int(10 ** (math.floor(math.log10(rows)) - 1))
    return math.ceil(rows / unit) * unit


@contextmanager
def prepared(request: SynthRequest, desk: Desk) -> Iterator[tuple[PreparedSynthesis, Held]]:
    """Lend the plan and the price of a synthesis, and the state of the table that it is about."""
    methods = check_early(request)
    scan = scan_of(desk.catalog, request.table)
    with hold(scan, desk) as held:
        yield _prepare(request, methods, scan, desk, held), held


def _prepare(
    request: SynthRequest,
    methods: tuple[tuple[str, Method], ...],
    scan: Scan,
    desk: Desk,
    held: Held,
) -> PreparedSynthesis:
    """Return the plan and the price of a synthesis. Depends on public facts only."""
    dataset, table = desk.catalog.dataset_of(scan.table), scan.table
    delta = delta_of(request, dataset, desk)
    many = all(method.groups_bins for _, method in methods)
    outline = checked_outline(dataset, table, request, delta, desk, many=many)
    said = exposure_note(desk.ledger, dataset.name)
    if said is not None:
        outline = replace(outline, notices=(*outline.notices, said))
    snapshots = snapshots_of(outline.scan, held)
    codes = sealed_reads(outline, desk.engine, preview_of(outline).coded)
    rules = (*table.rules, *request.rules)
    _check_words(request, outline, rules)
    budget = copy_budget(request.epsilon, delta, [outline], codes.source.region(snapshots))
    check_epsilon_useful(budget, codes.unit, request.epsilon)
    if request.options:
        for name, method in methods:
            try_settings(name, method, request.options, preview_of(outline).shape)
    return PreparedSynthesis(
        request=request,
        outline=outline,
        methods=methods,
        budget=budget,
        unit=codes.unit,
        source=codes.source,
        payer=Payer(request.analyst, dataset.name, dataset.budget),
        snapshot=f"synth {label(snapshots)}",
        rules=rules,
        csv=source_style(desk.catalog, table),
    )


def delta_of(request: SynthRequest, dataset: Dataset, desk: Desk) -> Delta:
    """Return the delta that is asked for, or a part of the dataset's."""
    if request.delta is not None:
        return request.delta
    return Delta(desk.catalog.budget_of(dataset).delta.value * DELTA_PART)


def checked_outline(
    dataset: Dataset, table: Table, request: SynthRequest, delta: Delta, desk: Desk, *, many: bool
) -> Outline:
    """Return how each column of a table will be treated, after it was found to be as declared."""
    check_table(dataset, table, desk.engine)
    return outline_of(
        desk.catalog,
        f"{dataset.name}.{table.name}",
        bins=request.bins,
        has_delta=bool(delta.value),
        many=many,
    )


def copy_budget(
    epsilon: Epsilon, delta: Delta, outlines: Sequence[Outline], region: Region
) -> SynthBudget:
    """Return what pays for reading tables so; a part of it learns domains where some are not declared."""
    words = sum(len(outline.words) for outline in outlines)
    learns = words or any(outline.ranges for outline in outlines)
    share = learning.DOMAINS_SHARE if learns else Fraction(0)
    return synth_budget(epsilon, delta, region=region, learn_share=share, words=words)


def sealed_reads(outline: Outline, engine: Engine, columns: Sequence[Coded]) -> SealedCodes:
    """Return the codes as far as they are public, judged with the other reads: before the charge."""
    found = seal_codes(outline.scan, engine, columns)
    for item in outline.words:
        found.source.check(seal_words(outline.scan, engine, item.name).source)
    if found.source.dataset.name != outline.dataset.name:
        raise Unfit("a read of other people than are charged")
    return found


def check_early(request: SynthRequest) -> tuple[tuple[str, Method], ...]:
    """Return the methods of a request; refuse what can be refused without knowing the table."""
    methods = tuple((name, find_method(name)) for name in request.choose or (request.method,))
    for _, method in methods:
        refuse_missing(method)
    for name, method in methods:
        taken = method.options  # imports the method too: before anything is paid
        unknown = [option for option in request.options if option not in taken]
        if unknown:
            known = ", ".join(taken) or "none"
            raise InvalidInput(
                f"The method '{name}' has no setting '{unknown[0]}'.",
                hint=f"Its settings: {known}.",
            )
    if request.rows is None and not any(method.uses_data for _, method in methods):
        raise InvalidInput(
            f"The method '{request.method}' reads no data, so it does not know how many rows there "
            "are.",
            hint="Say how many with --rows (rows= in Python).",
        )
    budget = synth_budget(request.epsilon, request.delta or Delta(Fraction(0)), region=EVERYONE)
    check_epsilon_useful(budget, CountSensitivity(), request.epsilon)
    return methods


def check_untyped(request: SynthRequest, names: Sequence[str]) -> None:
    """Refuse what can be refused of a table of which only the names of the columns are known."""
    check_spelling(request.where, request.rules)
    _check_any_types(request, names)
    preview = Encoding("rows", tuple(_unread(name) for name in names))
    _check_workload(request, preview)
    if request.options:
        for name, method in check_early(request):
            try_settings(name, method, request.options, preview.shape)


def _check_any_types(request: SynthRequest, names: Sequence[str]) -> None:
    """Refuse a condition or rule that cannot be used whatever types its columns turn out to have."""
    for text in request.rules:
        _try_types(text, names, partial(read_rules, [text]))
    if request.where is not None:
        where = request.where
        _try_types(where, names, lambda encoding: read_condition(where, encoding))


def _try_types(text: str, names: Sequence[str], read: Callable[[Encoding], object]) -> None:
    said = text.lower()
    named = [name for name in names if name.lower() in said]
    if len(named) > MOST_GUESSED:
        return  # too many to try: refused once the types are known
    refused: InvalidInput | None = None
    for kinds in product(_ANY_TYPE, repeat=len(named)):
        guess = dict(zip(named, kinds, strict=True))
        columns = tuple(
            _unread(name)
            if (domain := guess.get(name)) is None
            else Coded(name, domain, missing=True)
            for name in names
        )
        try:
            read(Encoding("rows", columns))
        except InvalidInput as error:
            refused = refused or error
        else:
            return
    if refused is not None:
        raise refused


class _AskedError(Exception):
    """A method has come as far as asking for rows: its settings make sense."""


@dataclass(frozen=True, slots=True)
class NoRows:
    """A counter without rows: whoever asks it gets this error."""

    error: Exception

    def marginals(self, wanted: Sequence[Columns]) -> list[Counts]:  # noqa: ARG002 the protocol's
        """Refuse."""
        raise self.error


def try_settings(name: str, method: Method, options: Mapping[str, Any], shape: Shape) -> None:
    """Refuse settings that a method cannot use, by starting it with marginals of no rows."""
    budget = MarginalBudget(Fraction(1), concentrated=True)
    marginals = PrivateMarginals(
        NoRows(_AskedError()), shape, budget, CountSensitivity(), SystemRng()
    )
    try:
        method.fit(marginals, **options)
    except _AskedError:
        return
    except (TypeError, ValueError, ArithmeticError):
        shown = ", ".join(f"{key}={value!r}"[:60] for key, value in options.items())
        raise InvalidInput(
            f"The method '{name}' cannot use these settings: {shown}.",
            hint="Look at docs/synth.md for what each of them takes.",
        ) from None


def _check_words(request: SynthRequest, outline: Outline, rules: tuple[str, ...]) -> None:
    """Refuse a condition or rule that cannot be read, before anything is paid."""
    preview = preview_of(outline)
    read_rules(rules, preview)
    _check_workload(request, preview)
    if request.where is not None:
        condition = read_condition(request.where, preview)
        known = {item.name for item in outline.items if isinstance(item, Coded)}
        for index, mask in allowed_codes(condition, preview).items():
            if not mask.any() and preview.coded[index].name in known:
                raise InvalidInput(
                    f"No declared value satisfies the condition: {request.where[:80]}."
                )


def _check_workload(request: SynthRequest, preview: Encoding) -> None:
    if "workload" in request.options:
        find_workload(preview.shape, checked_workload(request.options["workload"]))


def checked_workload(written: Any) -> list[list[str]]:
    """Return a workload as lists of column names, or refuse it."""
    if not isinstance(written, list | tuple) or not written:
        raise _no_workload()
    for names in written:
        if not isinstance(names, list | tuple) or not all(isinstance(n, str) for n in names):
            raise _no_workload()
    return [list(names) for names in written]


def _no_workload() -> InvalidInput:
    return InvalidInput(
        "A workload is a list of lists of column names.",
        hint='For example --set \'workload=[["age", "sex"], ["sex", "income"]]\'.',
    )


def preview_of(outline: Outline, *, words: bool = True) -> Encoding:
    """Return the encoding as far as it is public; what will be learned has a stand-in.

    Without `words`, columns whose values nobody declared are left out.
    """
    columns: list[Coded | MadeUpIdentifier] = []
    for item in outline.items:
        if isinstance(item, Coded | MadeUpIdentifier):
            columns.append(item)
        elif isinstance(item, RangeToLearn):
            columns.append(Coded(item.name, item.domain, (0,), missing=True))
        elif words:
            columns.append(_unread(item.name))
    return Encoding(outline.table.name, tuple(columns))


def _unread(name: str) -> Coded:
    """Return the stand-in of a column of which no value is known."""
    return Coded(name, CategoryDomain(("…", "…*")), missing=True, stems=1)
