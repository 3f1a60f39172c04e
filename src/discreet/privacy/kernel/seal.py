"""From SQL that somebody drafted to SQL that may run: read anew, bounded, priced.

Nothing that the drafter says is believed. A wrong draft is refused, or costs more; it never moves the
exact numbers by more than their noise was made for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from discreet.base.event import Composed, Failing, PrivacyEvent, Select
from discreet.base.numbers import Delta
from discreet.base.unit import Neighbours
from discreet.data.engines.dialects import DIALECTS
from discreet.privacy.kernel.canonical import CatalogScans, dataset_of
from discreet.privacy.kernel.facts import Facts, Form, Output, facts_of
from discreet.privacy.kernel.mechanism import (
    Bound,
    Kind,
    LargestGroup,
    Law,
    Mechanisms,
    Selection,
    Stability,
)
from discreet.privacy.kernel.nodes import Apply, Constant, Fold, Term, Unfit, folds, terms
from discreet.privacy.kernel.nodes import SelectNode as Statement
from discreet.privacy.kernel.read_duckdb import read_duckdb
from discreet.privacy.kernel.read_sqlglot import read_sqlglot
from discreet.privacy.noise.laws.registry import LAWS
from discreet.privacy.noise.select import threshold_for


@dataclass(frozen=True, slots=True)
class MeasureDraft:
    """A measure as a function of outputs: their places among the outputs, and the centre.

    CENTRED is 2 * sum - centre * present, SQUARES the sum of (2 * x - centre)^2.
    """

    kind: Kind
    places: tuple[int, ...]
    centre: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    """One SELECT that a planner wrote: its keys, then the outputs that `measures` are made of.

    With `choice` it is a histogram instead: the last key is a bin's number, the output its rows.
    """

    sql: str
    measures: Mapping[str, MeasureDraft]
    choice: str | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """A draft with what was derived from its SQL: only this may be run.

    `public_rows`: the owner declared every row of the dataset that the SQL reads public.
    """

    draft: Draft
    facts: Facts
    stability: Stability
    bounds: Mapping[str, Bound]
    dataset: str
    public_rows: bool = False


def parse(sql: str, dialect: str, own_tree: str | None) -> Statement:
    """Return the tree of the final SQL: the engine's own where it shows one.

    Guarantee: no SUM in it can leave the width that this dialect gives it. DuckDB adds 64-bit numbers
        up in 128 bits and PostgreSQL in numeric; Spark stays at 64, so there each summand must be a
        DECIMAL, whose sum has ten digits more, 38 at most.
    """
    if own_tree is not None:
        return read_duckdb(own_tree)
    row = DIALECTS[dialect]
    tree = read_sqlglot(sql, row.grammar)
    if row.backtracks and any(map(_is_slow, terms(tree))):
        raise Unfit("a search that takes as long as a row decides on this engine")
    if row.narrow_sums and not all(map(_is_wide, folds(tree))):
        raise Unfit("a sum that could leave 64 bits on this engine")
    return tree


MOST_PARTS = 2
"""How many % may stand in a pattern where LIKE tries every way to share a text among them."""


def _is_slow(term: Term) -> bool:
    match term:
        case Apply(name="like", operands=(_, Constant(value=str(pattern)))):
            return pattern.count("%") > MOST_PARTS
    return False


def _is_wide(fold: Fold) -> bool:
    if fold.name != "sum":
        return True
    match fold.operand:
        case Apply(name="*", operands=(one, two)):
            return all(_is_decimal(factor) for factor in (one, two))
        case _:
            return _is_decimal(fold.operand)


def _is_decimal(term: Term | None) -> bool:
    return isinstance(term, Apply) and term.name == "cast decimal(19, 0)"


def sealed(draft: Draft, tree: Statement, scans: CatalogScans) -> Read:
    """Return the draft with its facts, or refuse it. `tree` is that of the draft's SQL.

    Guarantee: what was judged is what is kept: whoever wrote the draft cannot change its measures later.
    """
    asked = {
        name: replace(each, places=tuple(each.places)) for name, each in draft.measures.items()
    }
    draft = replace(draft, measures=MappingProxyType(asked))
    facts = facts_of(tree, scans)
    dataset = dataset_of(facts, scans.tables)
    neighbours = dataset.neighbours
    groups = facts.keys - (draft.choice is not None)
    if groups < 0 or (draft.choice is not None and [o.form for o in facts.outputs] != [Form.ROWS]):
        raise Unfit("a histogram that is none")
    if draft.choice is not None and not facts.numbered:
        raise Unfit("bins that are no bounded whole numbers")
    # Where a unit counts once however many rows it has, nothing needs to bound them.
    single = 1 if facts.single and draft.choice is None else None
    stability = Stability(facts.rows or 1, groups > 0, neighbours, single)
    bounds = {name: _bound(asked, facts.outputs) for name, asked in draft.measures.items()}
    return Read(draft, facts, stability, bounds, dataset.name, dataset.public_rows)


_FORMS: Mapping[Kind, tuple[Form, ...]] = {
    Kind.ROWS: (Form.ROWS,),
    Kind.PRESENT: (Form.PRESENT,),
    Kind.DISTINCT: (Form.DISTINCT,),
    Kind.UNITS: (Form.UNITS,),
    Kind.SUM: (Form.SUM,),
    Kind.CENTRED: (Form.SUM, Form.PRESENT),
    Kind.SQUARES: (Form.SQUARES, Form.SUM, Form.PRESENT),
    Kind.DISTINCT_SUM: (Form.DISTINCT_SUM,),
    Kind.DISTINCT_SQUARES: (Form.DISTINCT_SQUARES,),
}
_OF_SQUARES: Mapping[Kind, tuple[Form, ...]] = {
    Kind.SUM: (Form.SQUARES,),
    Kind.CENTRED: (Form.SQUARES, Form.PRESENT),
}
"""The same of squares, which lie within the bounds of their output as other summands do."""


def _bound(asked: MeasureDraft, outputs: tuple[Output, ...]) -> Bound:
    """Return what one row can add to a measure, from the clamps in the SQL."""
    if not all(type(number) is int for number in (*asked.places, asked.centre)):
        # Of a fraction the exact value would be rounded, and move by more than the fraction says.
        raise Unfit("a measure whose places or centre are no whole numbers")
    if any(not 0 <= place < len(outputs) for place in asked.places):
        raise Unfit("a measure of outputs that are not there")
    found = tuple(outputs[place] for place in asked.places)
    forms = tuple(output.form for output in found)
    if forms not in {_FORMS[asked.kind], _OF_SQUARES.get(asked.kind)}:
        raise Unfit(f"outputs that do not make up {asked.kind.value}")
    if asked.kind in {Kind.CENTRED, Kind.SQUARES} and len({o.term for o in found}) != 1:
        raise Unfit("a measure that mixes two operands")
    match asked.kind:
        case Kind.SUM | Kind.DISTINCT_SUM | Kind.DISTINCT_SQUARES:
            return Bound(asked.kind, min(found[0].low, 0), max(found[0].high, 0))
        case Kind.CENTRED:
            ends = [2 * end - asked.centre for end in (found[0].low, found[0].high)]
            return Bound(asked.kind, min(*ends, 0), max(*ends, 0))
        case Kind.SQUARES:
            ends = [2 * end - asked.centre for end in (found[1].low, found[1].high)]
            return Bound(asked.kind, 0, max(end**2 for end in ends))
        case _:
            return Bound(asked.kind, 0, 1)


def exact_of(asked: MeasureDraft, bound: Bound, outputs: tuple[int, ...]) -> int:
    """Return a measure's exact value, in its grains, from what the engine added up."""
    parts = [outputs[place] for place in asked.places]
    centre = asked.centre
    match asked.kind:
        case Kind.CENTRED:
            value = 2 * parts[0] - centre * parts[1]
        case Kind.SQUARES:
            value = 4 * parts[0] - 4 * centre * parts[1] + centre * centre * parts[2]
        case _:
            value = parts[0]
    return value // bound.grain


def admit(proposed: Mechanisms, reads: tuple[Read, ...]) -> Mechanisms:
    """Return the mechanisms with sensitivities, threshold and event derived from the SQL itself.

    Guarantee: the event is true of whatever leaves through these mechanisms: each measure gets its own
        noise and each quantile its own choice, for the greatest change that the SQL allows, so the
        whole is their composition; a group that only one unit stands in appears with probability at
        most `failing`, over all groups of that unit.
    """
    _check_possible(proposed)
    if len({read.dataset for read in reads}) != 1:
        raise Unfit("the reads of one statement are about different datasets")
    if proposed.top is not None:
        return _admit_top(proposed, reads)
    names = [name for read in reads for name in (*read.bounds, read.draft.choice) if name]
    if len(set(names)) != len(names):
        raise Unfit("two measures of one name")
    measured = {name: read for read in reads for name in read.bounds}
    chosen = {read.draft.choice: read for read in reads if read.draft.choice is not None}
    if measured.keys() != proposed.laws.keys() or chosen.keys() != proposed.selections.keys():
        raise Unfit("noise and measures do not match")
    events: list[PrivacyEvent] = [
        _noise(proposed.laws[name], read.stability, read.bounds[name])
        for name, read in measured.items()
    ]
    selections = {
        name: _selection(selection, chosen[name].stability)
        for name, selection in proposed.selections.items()
    }
    events += [Select(selection.epsilon) for selection in selections.values()]
    event = events[0] if len(events) == 1 else Composed(tuple(events))
    found = replace(proposed, selections=selections, event=event, threshold=None)
    if proposed.units is None:
        return found
    return replace(
        found,
        threshold=_threshold(proposed, reads),
        event=Failing(event, proposed.failing),
    )


def _check_possible(proposed: Mechanisms) -> None:
    """Refuse noise that does not exist, whose price would mean nothing.

    Only the laws of the registry are priced, and only by whole numbers and fractions: of others the
    word of whoever made them would be believed.
    """
    if any(type(law) not in LAWS.values() for law in proposed.laws.values()):
        raise Unfit("noise of an unknown law")
    sizes: list[int | Fraction] = [law.size for law in proposed.laws.values()]
    sizes += [selection.epsilon for selection in proposed.selections.values()]
    sizes += [selection.bins for selection in proposed.selections.values()]
    if proposed.top is not None:
        sizes.append(proposed.top.epsilon)
    if proposed.units is not None:
        sizes += [proposed.failing, 1 - proposed.failing]
    if any(type(size) not in {int, Fraction} or size <= 0 for size in sizes):
        raise Unfit("noise of no size")


def _admit_top(proposed: Mechanisms, reads: tuple[Read, ...]) -> Mechanisms:
    """Return the choice of the largest group: one read, of rows, in public groups."""
    assert proposed.top is not None, "asked for by the caller"
    alone = len(reads) == 1 and [b.kind for b in reads[0].bounds.values()] == [Kind.ROWS]
    if not alone or proposed.laws or proposed.selections or proposed.units is not None:
        raise Unfit("a choice of the largest group that shows more than the group")
    stability = reads[0].stability
    # Under add-remove all counts move in one direction; a replaced unit moves one up, one down.
    monotone = stability.neighbours is Neighbours.ADD_REMOVE
    top: LargestGroup = replace(proposed.top, sensitivity=stability.max_rows, monotone=monotone)
    return replace(proposed, top=top, event=top.event)


def _noise(law: Law, stability: Stability, bound: Bound) -> PrivacyEvent:
    return law.event(
        l1=lambda: stability.l1(bound),
        l2_squared=lambda: stability.l2_squared(bound),
        coordinates=stability.coordinates,
    )


def _selection(selection: Selection, stability: Stability) -> Selection:
    """Return the selection with its sensitivity.

    Guarantee: one row moves the ranks by which a value is off by at most max(q, 1-q); a replaced row by
        at most 1 within a group, and by twice the first when it may change the group.
        [docs/notes/0108-a-quantile-among-equals.md]
    """
    q = selection.quantile
    if not 0 <= q <= 1:
        raise Unfit("a quantile outside 0 and 1")
    moved = max(q, 1 - q)
    if stability.grouped:
        moved *= stability.neighbours.moves
    elif stability.neighbours is Neighbours.REPLACE_ONE:
        moved = Fraction(1)
    return replace(selection, sensitivity=moved * stability.max_rows)


def _threshold(proposed: Mechanisms, reads: tuple[Read, ...]) -> int:
    """Return the noisy number of units from which on a private group may appear."""
    read = next((read for read in reads if proposed.units in read.bounds), None)
    if read is None or proposed.units is None:
        raise Unfit("private groups without their number of units")
    kind = read.bounds[proposed.units].kind
    if kind is not (Kind.UNITS if read.facts.person else Kind.ROWS):
        raise Unfit("a threshold on something other than units")
    # All reads show the same groups, so a unit's groups are those of the read with the most rows.
    groups = max(each.stability.coordinates for each in reads)
    law = proposed.laws[proposed.units]
    found = threshold_for(law, Delta(proposed.failing), max_groups=groups)
    # A public table may turn one row unit into several rows of one group.
    return found + (read.stability.max_rows - 1 if kind is Kind.ROWS else 0)
