"""Row functions: what may stand in an expression, what kind it has, and how large it can become.

Guarantee: a term that `value_of` accepts is a function of the one row below it, total on every row,
    whose whole numbers, also those in between, fit into 64 bits: neither an overflow nor a cast nor a
    division can raise because of what a row says. Assumes of the engine that the operators listed
    here are total inside these widths (docs/notes/0038-kernel.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

import pyarrow as pa
import pyarrow.compute as pc

from discreet.kernel.trees.nodes import Apply, Constant, Fold, Name, Term, Unfit, Window

WIDEST = 2**63 - 1
"""No whole number on the way may be larger in size than this."""


class ValueKind(Enum):
    """What a value is, as far as operators must agree on it."""

    INTEGER = "integer"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    UNIT = "unit"
    """Whose row it is: compared with other units, grouped by and counted, nothing else."""
    NOTHING = "nothing"
    """The bare NULL, which goes with every kind."""


@dataclass(frozen=True, slots=True)
class Value:
    """The kind of a term; for whole numbers their range and whether 64 bits are certain.

    `low` and `high` are None for a whole number of any size (a person's own sum), which only a clamp
    may read; of a text that is stored as one of a list they are the places in it. `canonical`: the
    value of a declared column as it is, which is its own clamp.
    """

    kind: ValueKind
    low: int | None = None
    high: int | None = None
    wide: bool = False
    canonical: bool = False

    @property
    def bounded(self) -> tuple[int, int]:
        """Return the range of a whole number that has one."""
        if self.kind is not ValueKind.INTEGER or self.low is None or self.high is None:
            raise Unfit("an operand that is no bounded whole number")
        return self.low, self.high


Values = Mapping[Name, Value]
BOOLEAN, TEXT = Value(ValueKind.BOOLEAN), Value(ValueKind.TEXT)


def integer(low: int, high: int, *, wide: bool = True) -> Value:
    """Return whole numbers in a range that must fit into 64 bits."""
    if not -WIDEST <= low <= high <= WIDEST:
        raise Unfit("a whole number that could leave 64 bits")
    return Value(ValueKind.INTEGER, low, high, wide)


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
            rule = RULES.get(name)
            if rule is None:
                raise Unfit(f"the kernel does not list '{name}'")
            if len(operands) not in _OPERANDS.get(name, range(1, 10_000)):
                raise Unfit(f"'{name}' of {len(operands)} operands")
            return rule([value_of(operand, columns) for operand in operands], term)


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
        return Value(ValueKind.DATE)
    if value is None:
        return Value(ValueKind.NOTHING)
    if kind:
        raise Unfit("a number that is not whole")
    if isinstance(value, bool):
        return BOOLEAN
    return integer(value, value, wide=abs(value) >= 2**31) if isinstance(value, int) else TEXT


def _case(term: Apply, columns: Values) -> Value:
    clamped = clamp_of(term)
    if clamped is not None:
        operand, low, high = clamped
        found = value_of(operand, columns)
        if found.kind is not ValueKind.INTEGER:
            raise Unfit("a clamp of something that is no whole number")
        # A short operand stays short, and its products overflow early.
        wide = found.wide or term.operands[-1] != operand or max(abs(low), abs(high)) >= 2**31
        return integer(low, high, wide=wide)
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
    if known[0].kind is not ValueKind.INTEGER:
        # Without places: two texts need not be of one list.
        return Value(known[0].kind)
    bounds = [value.bounded for value in known]
    low, high = min(b[0] for b in bounds), max(b[1] for b in bounds)
    return integer(low, high, wide=any(value.wide for value in known))


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
            return Value(ValueKind.NOTHING)
        ends = [combine(a, b) for a in one.bounded for b in two.bounded]
        # Two short operands are computed in short arithmetic, which overflows early.
        if not (one.wide or two.wide) and max(map(abs, ends)) >= 2**31:
            raise Unfit("arithmetic that could leave 32 bits")
        if not (one.wide or two.wide) and not all(_constant_width(v) for v in found):
            raise Unfit("arithmetic on a column of unknown width")
        return integer(min(ends), max(ends), wide=one.wide or two.wide)

    return rule


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
    if not (one.wide and two.wide):
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
    one.bounded  # noqa: B018  # only whole numbers have a remainder
    reach = max(abs(low), abs(high)) - 1
    return integer(-reach, reach)


def _negated(found: list[Value], _term: Term) -> Value:
    low, high = found[0].bounded
    return integer(-high, -low, wide=found[0].wide)


def _absolute(found: list[Value], _term: Term) -> Value:
    low, high = found[0].bounded
    least = 0 if low <= 0 <= high else min(abs(low), abs(high))
    return integer(least, max(abs(low), abs(high)), wide=found[0].wide)


def _widened(found: list[Value], _term: Term) -> Value:
    if found[0].kind is ValueKind.NOTHING:
        return found[0]
    return integer(*found[0].bounded)


def _small(found: list[Value], _term: Term) -> Value:
    low, high = found[0].bounded
    if not -(2**15) <= low <= high < 2**15:
        raise Unfit("a whole number that could leave 16 bits")
    return integer(low, high, wide=False)


def _to_text(found: list[Value], _term: Term) -> Value:
    if found[0].kind is ValueKind.UNIT:
        raise Unfit("a unit read as text")
    return TEXT


def _texts(found: list[Value], _term: Term) -> Value:
    if any(value.kind is not ValueKind.TEXT for value in found):
        raise Unfit("a function of text over something else")
    return TEXT


def _collated(found: list[Value], term: Term) -> Value:
    return _texts(found[:1], term)


def _cut(found: list[Value], term: Term) -> Value:
    """Return the rule of substr: constant places only, since a negative length can raise."""
    others = term.operands[1:] if isinstance(term, Apply) else ()
    if not all(isinstance(each, Constant) and type(each.value) is int for each in others):
        raise Unfit("a text cut at what a row says")
    if any(value.low is None or value.low < 0 for value in found[1:]):
        raise Unfit("a text cut at a negative place")
    return _texts(found[:1], term)


def _pattern(found: list[Value], term: Term) -> Value:
    """Return the rule of LIKE: a text beside a constant one, without an escape sign."""
    _fixed(term, 1)
    _texts(found, term)
    return BOOLEAN


def _fixed(term: Term, first: int) -> None:
    others = term.operands[first:] if isinstance(term, Apply) else ()
    if not all(isinstance(each, Constant) and isinstance(each.value, str) for each in others):
        raise Unfit("a text changed by what a row says")


def _replaced(found: list[Value], term: Term) -> Value:
    _fixed(term, 1)
    return _texts(found, term)


def _split(found: list[Value], term: Term) -> Value:
    """Return the rule of split_part: the place is a constant from 1 on, since 0 can raise."""
    match term:
        case Apply(operands=(_, Constant(value=str()), Constant(value=int(place), kind=""))):
            if type(place) is int and place >= 1:
                return _texts(found[:2], term)
    raise Unfit("a text split at what a row says")


def _searched(found: list[Value], term: Term) -> Value:
    """Return the rule of a regular expression: a constant that RE2 knows, so never an error."""
    _fixed(term, 1)
    _texts(found, term)
    if isinstance(term, Apply) and not _is_pattern(term.operands[1]):
        raise Unfit("a regular expression that RE2 does not know")
    return BOOLEAN if isinstance(term, Apply) and term.name == "regexp_matches" else TEXT


def _is_pattern(term: Term) -> bool:
    try:
        pc.match_substring_regex(pa.array([""]), str(getattr(term, "value", "")))
    except (pa.ArrowInvalid, ValueError):
        return False
    return True


def _length(found: list[Value], _term: Term) -> Value:
    _texts(found, _term)
    return integer(0, 2**31 - 1, wide=False)


def _of_list(found: list[Value], term: Term) -> Value:
    """Return a text looked up in a list of constants: one of them, or NULL."""
    listed = term.operands[1:] if isinstance(term, Apply) else ()
    if not listed or not all(isinstance(each, Constant) for each in listed):
        raise Unfit("a list of something that is not constant")
    _texts(found, term)
    return Value(ValueKind.TEXT, 0, len(listed) - 1)


def _place_in_list(found: list[Value], _term: Term) -> Value:
    (text,) = found
    if text.kind is not ValueKind.TEXT or text.low is None or text.high is None:
        raise Unfit("the place of a text that is in no list")
    return integer(text.low, text.high, wide=False)


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


Rule = Callable[[list[Value], Term], Value]

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "in", "not in"), _compared),
    **dict.fromkeys(("and", "or", "not"), _logical),
    **dict.fromkeys(("is null", "is not null"), _any),
    **dict.fromkeys(("coalesce", "greatest", "least"), _one_of),
    "+": _corners(lambda a, b: a + b),
    "-": _minus,
    "*": _corners(lambda a, b: a * b),
    "//": _divided,
    "/": _divided,
    "%": _remainder,
    "negate": _negated,
    "abs": _absolute,
    "cast bigint": _widened,
    "cast decimal(19, 0)": _widened,
    "cast smallint": _small,
    **dict.fromkeys(("cast varchar", "cast text", "cast string"), _to_text),
    **dict.fromkeys(("||", "md5", "lower", "upper", "trim"), _texts),
    **dict.fromkeys(("~~", "like"), _pattern),
    "replace": _replaced,
    **dict.fromkeys(("split_part", "splitpart"), _split),
    **dict.fromkeys(("regexp_matches", "regexp_replace"), _searched),
    **dict.fromkeys(("substr", "substring"), _cut),
    "length": _length,
    "try_cast enum": _of_list,
    "enum_code": _place_in_list,
    "collate": _collated,
    **dict.fromkeys(("date_part", "extract"), _part_of_date),
    "date_diff": _days_between,
    "unixdate": _day_number,
}
"""Everything that may be applied to a row. What is not here never reaches an engine."""

_OPERANDS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "//", "/", "%"), (2,)),
    **dict.fromkeys(("not", "is null", "is not null", "negate", "abs", "md5", "unixdate"), (1,)),
    **dict.fromkeys(("cast bigint", "cast decimal(19, 0)"), (1,)),
    **dict.fromkeys(("cast varchar", "cast text", "cast string"), (1,)),
    **dict.fromkeys(("date_part", "extract", "collate", "||"), (2,)),
    **dict.fromkeys(("substr", "substring"), (2, 3)),
    "date_diff": (3,),
    **dict.fromkeys(("lower", "upper", "trim"), (1,)),
    **dict.fromkeys(("~~", "like", "regexp_matches"), (2,)),
    **dict.fromkeys(("replace", "split_part", "splitpart"), (3,)),
    "regexp_replace": (3, 4),
}
"""How many operands there may be; for what is not here, any number."""
