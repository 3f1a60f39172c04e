"""Conditions and rules over synthetic rows, read by our own SQL binder; no engine ever sees them.

Among them columns that follow from others by arithmetic: `total = price * quantity`, `left = came + stay`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sqlglot
from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import evaluate
from discreet.ask.plan.expr import Expr
from discreet.ask.plan.ir import Filter, fields_of
from discreet.ask.plan.regions import to_box
from discreet.ask.sql.bind import bind
from discreet.ask.sql.parse import parse
from discreet.ask.sql.refuse import refusal
from discreet.base.arrays import Bits, Floats, Integers
from discreet.base.event import NULL as NULL_POSITION
from discreet.base.schema import (
    Column,
    Dataset,
    DateDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    Table,
)
from discreet.base.unit import Neighbours, PrivacyUnit
from discreet.data.catalog.catalog import Catalog
from discreet.errors import InvalidInput, QueryRefused
from discreet.measure.columns import Coded, Encoding
from discreet.measure.decoding import NULL, Places, day_number, value_at
from discreet.work.synth.models.model import Allowed

_OPERATORS: dict[type[exp.Expression], Callable[[Floats, Floats], Floats]] = {
    exp.Add: np.add,
    exp.Sub: np.subtract,
    exp.Mul: np.multiply,
    exp.Div: np.divide,
}


@dataclass(frozen=True, slots=True)
class Derivation:
    """A numeric column that every row computes from others; `then` is its place among the coded."""

    text: str
    then: int
    value: exp.Expression


def read_derivation(text: str, encoding: Encoding) -> Derivation | None:
    """Return `COLUMN = arithmetic`, or None where the text is some other rule.

    The left side is a number or a day, the right side has +, -, * or /: days count as whole numbers.
    """
    try:
        found = sqlglot.parse_one(text, read="duckdb")
    except (sqlglot.errors.SqlglotError, TypeError):  # the parser trips over "-> age"
        return None
    if not isinstance(found, exp.EQ) or not isinstance(found.this, exp.Column):
        return None
    if not isinstance(found.expression.unnest(), tuple(_OPERATORS)):
        return None
    then = encoding.index(found.this.name)
    if not isinstance(encoding.coded[then].domain, IntegerDomain | NumberDomain | DateDomain):
        raise InvalidInput(f"In '{text[:80]}' the left side must be a number or a day.")
    value = found.expression
    _check(value, encoding, text)
    return Derivation(text, then, value)


def _check(value: exp.Expression, encoding: Encoding, text: str) -> None:
    for node in value.walk():
        if isinstance(node, exp.Column):
            column = encoding.coded[encoding.index(node.name)]
            if not isinstance(column.domain, IntegerDomain | NumberDomain | DateDomain):
                raise InvalidInput(f"In '{text[:80]}' only numbers and days can be computed with.")
        elif not isinstance(node, (*_OPERATORS, exp.Literal, exp.Paren, exp.Neg, exp.Identifier)):
            raise InvalidInput(
                f"The rule '{text[:80]}' computes with more than + - * / and columns.",
                hint="Write for example: total = price * quantity.",
            )


def derive(places: Places, encoding: Encoding, derivations: tuple[Derivation, ...]) -> Places:
    """Return the rows with derived columns computed, rounded to their steps, inside their domains.

    A gap on the right is a gap on the left where the column may have one; elsewhere, and where the
    arithmetic has no value (a division by 0), the row keeps what was drawn.
    """
    for rule in derivations:
        column = encoding.coded[rule.then]
        with np.errstate(all="ignore"):
            found = _evaluated(rule.value, places, encoding)
        lower, step = _lattice(column)
        known = np.isfinite(found)
        steps = np.rint((np.where(known, found, 0.0) - lower) / step)
        place = np.clip(steps, 0, column.positions - 1).astype(np.int64)
        gap = NULL if column.missing else places[:, rule.then]
        places[:, rule.then] = np.where(known, place, gap)
    return places


def _evaluated(node: exp.Expression, places: Places, encoding: Encoding) -> Floats:
    match node:
        case exp.Paren():
            return _evaluated(node.this, places, encoding)
        case exp.Neg():
            return -_evaluated(node.this, places, encoding)
        case exp.Literal():
            return np.full(len(places), float(node.name))
        case exp.Column():
            index = encoding.index(node.name)
            lower, step = _lattice(encoding.coded[index])
            mine = places[:, index]
            return np.where(mine == NULL, np.nan, lower + step * mine)
        case _:
            left = _evaluated(node.this, places, encoding)
            right = _evaluated(node.expression, places, encoding)
            return _OPERATORS[type(node)](left, right)


def _lattice(column: Coded) -> tuple[float, float]:
    """Return the value at a column's first position, and the step between positions."""
    match column.domain:
        case NumberDomain(lower=lower, step=step):
            return float(lower), float(step)
        case DateDomain(lower=first):
            return float(day_number(first)), 1.0
        case domain:
            assert isinstance(domain, IntegerDomain), "checked when the rule was read"
            return float(domain.lower), 1.0


_ALIAS = "rows"
MOST_RULES = 200


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one row; columns go by their own names."""

    text: str
    expr: Expr

    def columns(self, encoding: Encoding) -> tuple[int, ...]:
        """Return the places of the coded columns that it reads."""
        names = sorted(e.columns_of(self.expr))
        return tuple(encoding.index(name) for name in names)


@dataclass(frozen=True, slots=True)
class Dependency:
    """Rows that agree on `given` agree on `then`: places of coded columns."""

    text: str
    given: tuple[int, ...]
    then: int


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules of one table."""

    conditions: tuple[Condition, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    derivations: tuple[Derivation, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the rules as they were written."""
        kinds = (self.conditions, self.dependencies, self.derivations)
        return tuple(rule.text for rules in kinds for rule in rules)

    @property
    def decided(self) -> set[int]:
        """Return the places of the columns that others decide."""
        return {rule.then for rules in (self.dependencies, self.derivations) for rule in rules}


def read_rules(texts: Sequence[str], encoding: Encoding) -> Rules:
    """Return the rules that `texts` say, or refuse one with a sentence.

    A rule is a condition ("age >= 16"), an implication ("age >= 16 if employed = 'yes'"), a
    dependency ("zip -> city") or a derived column ("total = price * quantity"). As with SQL's CHECK, a row breaks a condition only where it is false.
    """
    if len(texts) > MOST_RULES:
        raise InvalidInput(f"There are more than {MOST_RULES} rules.")
    conditions: list[Condition] = []
    dependencies: list[Dependency] = []
    derivations: list[Derivation] = []
    for text in texts:
        tokens = _tokens(text)
        arrow = _top_level(tokens, "->")
        if arrow is not None:
            dependencies.append(_dependency(text, tokens, arrow, encoding))
            continue
        derived = read_derivation(text, encoding)
        if derived is not None:
            derivations.append(derived)
            continue
        conditions.append(_implication(text, tokens, encoding))
    return Rules(tuple(conditions), tuple(dependencies), tuple(derivations))


def check_spelling(where: str | None, rules: Sequence[str]) -> None:
    """Refuse a condition or rule that says nothing, whatever the columns of the table hold."""
    if where is not None:
        with _told(where):
            parse(_question(where))
    for text in rules:
        tokens = _tokens(text)
        for part in () if _top_level(tokens, "->") is not None else _parts(text, tokens):
            with _told(part):
                parse(_question(part))


def read_condition(text: str, encoding: Encoding) -> Condition:
    """Return the condition that `text` writes over the columns of `encoding`."""
    with _told(text):
        statement = bind(_question(text), _catalog(encoding))
    plain = not statement.keys and statement.limit is None and statement.having == e.TRUE
    if not plain or not isinstance(statement.source, Filter):
        raise InvalidInput(f"'{text[:80]}' is not a condition on one row.")
    names = {f.name: e.ColumnRef(f.called) for f in fields_of(statement.source)}
    return Condition(text, e.substitute(statement.source.condition, names))


def _question(condition: str) -> str:
    return f'SELECT COUNT(*) AS n FROM "{_ALIAS}" WHERE ({condition}\n)'


@contextmanager
def _told(condition: str) -> Iterator[None]:
    try:
        yield
    except QueryRefused as refused:
        raise InvalidInput(
            f"The condition '{condition[:80]}' cannot be used: {refused.message}",
            hint=refused.hint,
        ) from None


def _catalog(encoding: Encoding) -> Catalog:
    """Return a catalog with one table: the columns as they are encoded, nothing private."""
    columns = tuple(
        Column(column.name, column.domain, missing=column.missing).by_day()
        if isinstance(column, Coded)
        else Column(column.name, IdentifierDomain())
        for column in encoding.columns
    )
    table = Table(_ALIAS, "", PrivacyUnit(), columns, max_rows=1)
    dataset = Dataset("synthetic", (table,), Neighbours.ADD_REMOVE, "synthetic")
    return Catalog(Path(), "duckdb:", "sqlite:", {"synthetic": dataset}, {})


def _tokens(text: str) -> list[Token]:
    if not text.strip() or len(text) > 10_000:
        raise InvalidInput("A rule is a condition of 1 to 10,000 characters.")
    try:
        return list(sqlglot.tokenize(text, read="duckdb"))
    except Exception:  # noqa: BLE001  # broken text trips the tokenizer in ways of its own
        raise refusal("syntax", where="the beginning") from None


def _top_level(tokens: Sequence[Token], word: str) -> int | None:
    """Return where a word stands outside all brackets; None if it does not."""
    depth = 0
    for i, token in enumerate(tokens):
        if token.token_type is TokenType.L_PAREN:
            depth += 1
        elif token.token_type is TokenType.R_PAREN:
            depth -= 1
        elif depth == 0 and i and token.text.lower() == word and not _quoted(token):
            return i
    return None


def _quoted(token: Token) -> bool:
    return token.token_type in {TokenType.STRING, TokenType.IDENTIFIER}


def _implication(text: str, tokens: Sequence[Token], encoding: Encoding) -> Condition:
    then, *given = (read_condition(part, encoding) for part in _parts(text, tokens))
    return Condition(text, e.Or((e.Not(given[0].expr), then.expr))) if given else then


def _parts(text: str, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the conditions of "THEN if GIVEN", or the one condition that a rule is."""
    at = _top_level(tokens, "if")
    if at is None:
        return (text,)
    if at + 1 == len(tokens):
        raise InvalidInput(f"The rule '{text[:80]}' cannot be used: nothing follows its 'if'.")
    return text[: tokens[at].start], text[tokens[at].end + 1 :]


def _dependency(text: str, tokens: Sequence[Token], arrow: int, encoding: Encoding) -> Dependency:
    left = [token.text for token in tokens[:arrow] if token.token_type is not TokenType.COMMA]
    right = [token.text for token in tokens[arrow + 1 :]]
    if len(right) != 1 or not 1 <= len(left) <= 2:
        raise InvalidInput(
            f"The rule '{text[:80]}' is not understood.",
            hint="Write a dependency as: zip -> city, or: country, zip -> city.",
        )
    then = encoding.index(right[0])
    if encoding.coded[then].edges is not None:
        raise InvalidInput(
            f"Column '{right[0]}' is kept in bins, so the rule '{text[:80]}' cannot fix its value.",
            hint="The right side of -> must be a category, or numbers with few declared values.",
        )
    return Dependency(text, tuple(encoding.index(name) for name in left), then)


def holds(condition: Condition, places: Places, encoding: Encoding) -> npt.NDArray[np.object_]:
    """Return for each row True, False or None: the value of the condition."""
    names = sorted(e.columns_of(condition.expr))
    columns = condition.columns(encoding)
    if not columns:
        return np.full(len(places), evaluate(condition.expr, {}), dtype=object)
    coded = [encoding.coded[i] for i in columns]
    first, inverse = _distinct(places, columns, coded)
    table = np.empty(len(first), dtype=object)
    for i, row in enumerate(places[first][:, list(columns)].tolist()):
        values: dict[str, Any] = {
            name: value_at(column, place)
            for name, column, place in zip(names, coded, row, strict=True)
        }
        table[i] = evaluate(condition.expr, values)
    return table[inverse]


def _distinct(
    places: Places, columns: Sequence[int], coded: Sequence[Coded]
) -> tuple[Integers, Integers]:
    """Return one row for each different combination, and the combination of every row."""
    key = np.zeros(len(places), dtype=np.int64)
    for column, each in zip(columns, coded, strict=True):
        found = places[:, column] + 1
        if len(places) and int(key.max()) + 1 > (2**62) // (each.positions + 1):
            # Too many combinations for one number: count the ones that occur.
            key = np.unique(key, return_inverse=True)[1].reshape(-1)
            found = np.unique(found, return_inverse=True)[1].reshape(-1)
        key = key * (int(found.max(initial=0)) + 1) + found
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1)


def allowed_codes(condition: Condition, encoding: Encoding) -> Allowed:
    """Return, for columns that the condition restricts, the codes that its rows can have."""
    domains = {c.name: c.by_day().domain for c in _catalog(encoding).table(_ALIAS).columns}
    found: dict[int, Bits] = {}
    for name, positions in to_box(condition.expr, domains).hull.items():
        index = encoding.index(name)
        column = encoding.coded[index]
        mask = np.zeros(column.size, dtype=bool)
        for low, high in positions.spans:
            for code in range(column.values):
                first, behind = column.span(code)
                mask[code] |= first <= high and low < behind
        if column.missing:
            mask[column.values] = NULL_POSITION in positions
        found[index] = mask
    return found
