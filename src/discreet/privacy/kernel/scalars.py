"""Row functions: what may stand in an expression, what kind it has, and how large it can become.

Guarantee: a term that `value_of` accepts is a function of the one row below it, total on every row,
    whose whole numbers, also those in between, fit into 64 bits: neither an overflow nor a cast nor a
    division can raise because of what a row says. Assumes of the engine that the operators listed
    here are total inside these widths (docs/notes/0038-kernel.md).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping

from discreet.privacy.kernel import functions
from discreet.privacy.kernel.functions import (
    BOOLEAN,
    SEALED,
    Applied,
    Value,
    ValueKind,
    Values,
    integer,
    text,
)
from discreet.privacy.kernel.nodes import Apply, Constant, Fold, Name, Term, Unfit, Window


def value_of(term: Term, columns: Values) -> Value:
    """Return the kind and range of a row function, or refuse the term."""
    match term:
        case Name():
            if term not in columns:
                raise Unfit("a column that the block below does not have")
            return columns[term]
        case Constant(value=value, kind=kind):
            return _constant(value, kind)
        case Fold() | Window():
            raise Unfit("an aggregate where a row function belongs")
        case Apply(name="case"):
            return _case(term, columns)
        case Apply(name=name, operands=operands):
            asked = RULES.get(name)
            if asked is None:
                raise Unfit(f"the kernel does not list '{name}'")
            if len(operands) not in asked.operands:
                raise Unfit(f"'{name}' of {len(operands)} operands")
            if name == "md5":
                # A whole row may be hashed: each part of it is no longer than any text.
                operands = _parts_of_text(operands[0])
            return asked.rule([value_of(operand, columns) for operand in operands], term)


def _parts_of_text(term: Term) -> tuple[Term, ...]:
    found, waiting = [], [term]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Apply) and part.name == "||":
            waiting += part.operands
        else:
            found.append(part)
    return tuple(found)


def condition(term: Term, columns: Values) -> None:
    """Refuse a term that is not a truth value of one row."""
    if value_of(term, columns).kind not in {ValueKind.BOOLEAN, ValueKind.NOTHING}:
        raise Unfit("a condition that is no truth value")


def clamp_of(term: Term) -> tuple[Term, int, int] | None:
    """Return (operand, low, high) of the kernel's own clamp, None for any other term.

    Guarantee: the value is NULL or within [low, high], whatever the operand is: NULL fails both
        tests and is passed on, everything else passes one of the three ways.
    """
    match term:
        case Apply(
            name="case",
            operands=(
                Apply(name=">", operands=(one, Constant(value=int(high), kind=""))),
                Constant(value=int(top), kind=""),
                Apply(name="<", operands=(two, Constant(value=int(low), kind=""))),
                Constant(value=int(bottom), kind=""),
                other,
            ),
        ):
            passed = other in (one, Apply("cast bigint", (one,)))
            same = one == two and passed and (high, low) == (top, bottom) and low <= high
            # True and False are numbers to Python, not to SQL.
            plain = all(type(number) is int for number in (high, top, low, bottom))
            return (one, low, high) if same and plain else None
    return None


def _constant(value: object, kind: str) -> Value:
    if kind == "date":
        return _date(str(value))
    if value is None:
        return Value(ValueKind.NOTHING)
    if kind:
        raise Unfit("a number that is not whole")
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, int):
        return integer(value, value, wide=beyond_32_bits(value, value))
    return text(len(str(value)))


def beyond_32_bits(low: int, high: int) -> bool:
    """Return whether an engine must take more than 32 bits for one of these numbers."""
    return low < -(2**31) or high >= 2**31


def _date(written: str) -> Value:
    """Return a date of the calendar: another one raises where a row gets to it, or is too far away."""
    try:
        same = dt.date.fromisoformat(written).isoformat() == written
    except ValueError:
        same = False
    if not same:
        raise Unfit("a constant that is not a date")
    return Value(ValueKind.DATE)


def _case(term: Apply, columns: Values) -> Value:
    clamped = clamp_of(term)
    if clamped is not None:
        operand, low, high = clamped
        found = value_of(operand, columns)
        if found.kind is not ValueKind.INTEGER:
            raise Unfit("a clamp of something that is no whole number")
        # A short operand stays short, and its products overflow early.
        cast = term.operands[-1] != operand
        wide = found.wide or cast or beyond_32_bits(low, high)
        return integer(low, high, wide=wide, narrow=found.narrow and not cast)
    *pairs, other = term.operands
    for test in pairs[::2]:
        condition(test, columns)
    return _one_of([value_of(each, columns) for each in (*pairs[1::2], other)], term)


def _one_of(found: list[Value], _term: Term) -> Value:
    """Return the kind and range of whichever of several values it is."""
    known = [value for value in found if value.kind is not ValueKind.NOTHING]
    if not known:
        return Value(ValueKind.NOTHING)
    if len({value.kind for value in known}) > 1:
        raise Unfit("branches of different kinds")
    if known[0].kind is ValueKind.TEXT:
        # Without places: two texts need not be of one list.
        return text(max(value.letters for value in known))
    if known[0].kind is not ValueKind.INTEGER:
        return Value(known[0].kind)
    bounds = [value.bounded for value in known]
    low, high = min(b[0] for b in bounds), max(b[1] for b in bounds)
    wide, narrow = any(value.wide for value in known), any(value.narrow for value in known)
    return integer(low, high, wide=wide, narrow=narrow)


def _compared(found: list[Value], term: Term) -> Value:
    units = [value.kind is ValueKind.UNIT for value in found]
    if any(units) and not (all(units) and isinstance(term, Apply) and term.name == "="):
        raise Unfit("a unit compared with something else")
    _one_of([Value(v.kind, 0, 0) if v.kind is ValueKind.INTEGER else v for v in found], term)
    return BOOLEAN


def _logical(found: list[Value], _term: Term) -> Value:
    if any(value.kind not in {ValueKind.BOOLEAN, ValueKind.NOTHING} for value in found):
        raise Unfit("AND, OR or NOT of something that is no truth value")
    return BOOLEAN


def _any(_found: list[Value], _term: Term) -> Value:
    return BOOLEAN


def _corners(
    combine: Callable[[int, int], int],
) -> Callable[[list[Value], Term], Value]:
    """Return the rule of an operator that is monotone in each operand."""

    def rule(found: list[Value], _term: Term) -> Value:
        one, two = found
        if ValueKind.NOTHING in {one.kind, two.kind}:
            return _no_number(one, two)
        ends = [combine(a, b) for a in one.bounded for b in two.bounded]
        if one.narrow or two.narrow:
            raise Unfit("arithmetic on a narrow number, which may not fit")
        # Two short operands are computed in short arithmetic, which overflows early.
        if not (one.wide or two.wide) and max(map(abs, ends)) >= 2**31:
            raise Unfit("arithmetic that could leave 32 bits")
        if not (one.wide or two.wide) and not all(_constant_width(v) for v in found):
            raise Unfit("arithmetic on a column of unknown width")
        return integer(min(ends), max(ends), wide=one.wide or two.wide)

    return rule


def _no_number(*found: Value) -> Value:
    """Return NULL as a number: to an engine it is one, and texts beside it would be read as numbers."""
    if any(value.kind not in {ValueKind.INTEGER, ValueKind.NOTHING} for value in found):
        raise Unfit("arithmetic on what is no number")
    return integer(0, 0, wide=any(value.wide for value in found))


def _constant_width(value: Value) -> bool:
    return value.low == value.high


def _minus(found: list[Value], term: Term) -> Value:
    if all(value.kind is ValueKind.DATE for value in found):
        return integer(-_DAYS, _DAYS, wide=False)
    return _corners(lambda a, b: a - b)(found, term)


_DAYS = 4_000_000
"""More days than lie between any two dates of the calendar that declared dates come from."""


def _divided(found: list[Value], _term: Term) -> Value:
    one, two = found
    low, high = two.bounded
    if low <= 0 <= high:
        raise Unfit("a division by what may be zero")
    reach = max(map(abs, one.bounded))
    if not (one.wide and two.wide) or one.narrow or two.narrow:
        raise Unfit("a division of unknown width")
    if one.bounded[0] >= 0 and low > 0:
        # Engines agree on how to round what is not negative.
        return integer(one.bounded[0] // high, one.bounded[1] // low)
    return integer(-reach, reach)


def _remainder(found: list[Value], _term: Term) -> Value:
    one, two = found
    low, high = two.bounded
    if low <= 0 <= high or not (one.wide and two.wide):
        raise Unfit("a remainder of what may be zero")
    if one.narrow or two.narrow:
        raise Unfit("a remainder of unknown width")
    one.bounded  # noqa: B018  # only whole numbers have a remainder
    reach = max(abs(low), abs(high)) - 1
    return integer(-reach, reach)


def _negated(found: list[Value], _term: Term) -> Value:
    low, high = found[0].bounded
    if found[0].narrow or (not found[0].wide and beyond_32_bits(-high, -low)):
        raise Unfit("the opposite of a narrow number, which may not fit")
    return integer(-high, -low, wide=found[0].wide)


def _widened(found: list[Value], _term: Term) -> Value:
    if found[0].kind is ValueKind.NOTHING:
        return integer(0, 0)  # a number from here on, see `_no_number`
    return integer(*found[0].bounded)


def _as_decimal(found: list[Value], term: Term) -> Value:
    """Return the rule of a cast by which squares are summed; divided, DuckDB would make it a double."""
    whole = _widened(found, term)
    return integer(*whole.bounded, narrow=True)


def _small(found: list[Value], _term: Term) -> Value:
    low, high = found[0].bounded
    if not -(2**15) <= low <= high < 2**15:
        raise Unfit("a whole number that could leave 16 bits")
    return integer(low, high, wide=False, narrow=True)


def _tiny(found: list[Value], _term: Term) -> Value:
    low, high = found[0].bounded
    if not 0 <= low <= high < 2**8:
        raise Unfit("a whole number that could leave 8 bits without a sign")
    return integer(low, high, wide=False, narrow=True)


def _of_list(found: list[Value], term: Term) -> Value:
    """Return a text looked up in a list of constants: one of them, or NULL."""
    listed = term.operands[1:] if isinstance(term, Apply) else ()
    if not listed or not all(isinstance(each, Constant) for each in listed):
        raise Unfit("a list of something that is not constant")
    functions.joined(found, term)
    longest = max(len(str(each.value)) for each in listed if isinstance(each, Constant))
    return Value(ValueKind.TEXT, 0, len(listed) - 1, length=longest)


def _place_in_list(found: list[Value], _term: Term) -> Value:
    (text,) = found
    if text.kind is not ValueKind.TEXT or text.low is None or text.high is None:
        raise Unfit("the place of a text that is in no list")
    return integer(text.low, text.high, wide=False, narrow=True)


def _part_of_date(found: list[Value], term: Term) -> Value:
    if _named(term) not in _PARTS or [value.kind for value in found][1:] != [ValueKind.DATE]:
        raise Unfit("a part of something that is no date")
    return integer(-_DAYS, _DAYS, wide=False)


_PARTS = frozenset(
    {"year", "quarter", "month", "week", "day", "dow", "isodow", "doy", "dayofweek_iso"}
)
"""What an engine may be asked of a date; others, such as seconds, are larger than days."""


def _named(term: Term) -> str:
    """Return the first operand where it is a word: the part or the measure of a date."""
    match term:
        case Apply(operands=(Constant(value=str(word), kind=""), *_)):
            return word.lower()
    return ""


def _days_between(found: list[Value], term: Term) -> Value:
    kinds = [value.kind for value in found]
    if _named(term) != "day" or kinds[1:] != [ValueKind.DATE, ValueKind.DATE]:
        raise Unfit("days between something that are no dates")
    return integer(-_DAYS, _DAYS)


def _day_number(found: list[Value], _term: Term) -> Value:
    if found[0].kind is not ValueKind.DATE:
        raise Unfit("the day number of something that is no date")
    return integer(-_DAYS, _DAYS, wide=False)


RULES: Mapping[str, Applied] = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), Applied(_compared, (2,))),
    **dict.fromkeys(("in", "not in"), Applied(_compared)),
    **dict.fromkeys(("and", "or"), Applied(_logical)),
    "not": Applied(_logical, (1,)),
    **dict.fromkeys(("is null", "is not null"), Applied(_any, (1,))),
    **dict.fromkeys(("coalesce", "greatest", "least"), Applied(_one_of)),
    "+": Applied(_corners(lambda a, b: a + b), (2,)),
    "-": Applied(_minus, (2,)),
    "*": Applied(_corners(lambda a, b: a * b), (2,)),
    **dict.fromkeys(("//", "/"), Applied(_divided, (2,))),
    "%": Applied(_remainder, (2,)),
    "negate": Applied(_negated, (1,)),
    "cast bigint": Applied(_widened, (1,)),
    "cast decimal(19, 0)": Applied(_as_decimal, (1,)),
    "cast smallint": Applied(_small, (1,)),
    "cast utinyint": Applied(_tiny, (1,)),
    "try_cast enum": Applied(_of_list),
    "enum_code": Applied(_place_in_list, (1,)),
    **dict.fromkeys(("date_part", "extract"), Applied(_part_of_date, (2,))),
    "date_diff": Applied(_days_between, (3,)),
    "unixdate": Applied(_day_number, (1,)),
    **functions.TEXTS,
    **{name: asked for row in SEALED.values() for name, asked in row.applied.items()},
}
"""Everything that may be applied to a row. What is not here never reaches an engine."""
