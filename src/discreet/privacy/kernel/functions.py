"""Scalar functions that an engine computes itself, one row each, and what is known of a value in final SQL.

Of a value its kind is known, the range of a number, the length of a text.

The kernel reads `applied` of a function's row and nothing else: what it derives from the final SQL follows from
that SQL and these rules, whatever a planner has made of the other fields. Those are for the packages above, which
take a function's kinds, its constants, its value in Python, its SQL and its line in docs/sql.md from here.

Functions of text are total on every text, and never longer than the statement allows. Every number and every
pattern beside the text is a constant inside small bounds, so no engine can raise because of what a row says, and how
much a row can grow is derived here, letter by letter.

Guarantee: what `applied` lists is total on every engine inside its rule, and no larger than the rule says
    (docs/notes/0056). The other fields are no part of it: a wrong one is a wrong answer, or a refusal, since
    the kernel reads the SQL that was made of them like anybody else's. To add a function is to add a row
    here, or in `ask/plan/functions.py` where no engine needs to know it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from discreet.privacy.kernel.nodes import Apply, Constant, Name, Term, TooWide, Unfit
from discreet.privacy.kernel.patterns import (
    Pattern,
    PatternRefused,
    check_replacement,
    pattern_of,
    plain_text,
)

LONGEST_TEXT = 100_000
"""No text on the way may have more letters than this."""

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
    value of a declared column as it is, which is its own clamp. `length`: how many letters a text has
    at most; without it no function of text may read it. `narrow`: perhaps of 16 bits, without a sign or
    a decimal, so that nothing may be computed of it before it is cast to 64 bits.
    """

    kind: ValueKind
    low: int | None = None
    high: int | None = None
    wide: bool = False
    canonical: bool = False
    length: int | None = None
    narrow: bool = False

    @property
    def bounded(self) -> tuple[int, int]:
        """Return the range of a whole number that has one."""
        if self.kind is not ValueKind.INTEGER or self.low is None or self.high is None:
            raise Unfit("an operand that is no bounded whole number")
        return self.low, self.high

    @property
    def letters(self) -> int:
        """Return how many letters a text has at most."""
        if self.kind is not ValueKind.TEXT or self.length is None:
            raise Unfit("a function of text over something else")
        return self.length


Values = Mapping[Name, Value]
BOOLEAN = Value(ValueKind.BOOLEAN)


def integer(low: int, high: int, *, wide: bool = True, narrow: bool = False) -> Value:
    """Return whole numbers in a range that must fit into 64 bits."""
    if not -WIDEST <= low <= high <= WIDEST:
        raise TooWide("a whole number that could leave 64 bits")
    return Value(ValueKind.INTEGER, low, high, wide, narrow=narrow)


def text(letters: int) -> Value:
    """Return texts of at most so many letters, or refuse them as too long.

    Guarantee: whatever a row says, no text that is made of it is longer than `LONGEST_TEXT`: how much
        memory a row takes follows from the statement.
    """
    if letters > LONGEST_TEXT:
        raise TooLong(letters)
    return Value(ValueKind.TEXT, length=letters)


class TooLong(Unfit):
    """A text that could become longer than any row may take: the one unfit term that is the asker's."""

    def __init__(self, letters: int) -> None:
        super().__init__(f"a text of {letters} letters")
        self.letters = letters


Rule: TypeAlias = Callable[[list[Value], Term], Value]
"""What is known of a term, from what is known of its operands; `Unfit` where it might fail."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What final SQL may ask an engine under one name: the rule, and how many operands there may be."""

    rule: Rule
    operands: Sequence[int] = range(1, 10_000)


class Whole(Enum):
    """Whether the numbers that a function gives are whole ones."""

    UNKNOWN = "unknown"
    ALWAYS = "always"
    AS_OPERAND = "as its operand"


@dataclass(frozen=True, slots=True)
class Constants:
    """What may stand beside the operand: texts, then so many places of a text (least, most)."""

    texts: bool = False
    places: tuple[int, int] = (0, 0)
    from_one: bool = False


Spelling: TypeAlias = Callable[[str, Sequence[str], Sequence[Any]], str]
"""SQL of a call from the SQL of its operand, the SQL of its constants, and the constants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarFunction:
    """A total function of one operand and constants; all that the product knows of it.

    `written`: calls as people write them, the operand a column, the constants constants. What the parser
    makes of them is what it accepts; none where other rules make the call. `compute` is its value in
    Python, NULL for NULL, and NULL where it raises. `steps`: DuckDB's own function of the name is total
    too, so it may stand in a step over results. Without `sql` it is tabulated over declared values, and
    never computed by an engine; a mapping has the SQL of some engines only. Over numbers the SQL gets whole
    steps and gives whole steps, as far as `reach` says of the operand's ends, or whole numbers `between`
    two bounds, by which they are clamped. `applied`: what the kernel lists for it.
    """

    written: tuple[str, ...] = ()
    takes: str
    gives: str
    compute: Callable[..., Any]
    constants: Constants = field(default_factory=Constants)
    whole: Whole = Whole.UNKNOWN
    steps: bool = False
    sql: Spelling | Mapping[str, Spelling] | None = None
    between: tuple[int, int] | None = None
    reach: Callable[[Any, Any], tuple[Any, Any]] | None = None
    applied: Mapping[str, Applied] = field(default_factory=dict)


def called(name: str) -> Spelling:
    """Return the usual spelling: a name, and in brackets the operand and the constants."""
    return lambda value, given, _constants: f"{name}({', '.join([value, *given])})"


_SHOWN = {ValueKind.INTEGER: 20, ValueKind.DATE: 10, ValueKind.BOOLEAN: 5, ValueKind.NOTHING: 0}
"""Letters of a value that is no text, once it is written as one."""
_CASES = 3
"""One letter in the other case is at most three: ΐ in capitals, where an engine has them all."""


def joined(found: list[Value], _term: Term) -> Value:
    """Return the rule of ||, and of any function that gives back no more than it took."""
    return text(sum(value.letters for value in found))


def _shown(found: list[Value], _term: Term) -> Value:
    """Return the rule of a cast to text."""
    (value,) = found
    if value.kind is ValueKind.UNIT:
        raise Unfit("a unit read as text")
    if value.kind is ValueKind.INTEGER and value.low is None:
        raise Unfit("a number of any size read as text")
    return text(value.letters if value.kind is ValueKind.TEXT else _SHOWN[value.kind])


def _hashed(found: list[Value], _term: Term) -> Value:
    for part in found:
        part.letters  # noqa: B018  # only texts have letters
    return text(32)


def recased(found: list[Value], _term: Term) -> Value:
    """Return the rule of a text in capitals or in small letters."""
    return text(_CASES * found[0].letters)


def _collated(found: list[Value], term: Term) -> Value:
    """Return the rule of a text compared by its bytes: other collations call different texts equal."""
    if _operands(term)[1:] != (Constant("C"),):
        raise Unfit("texts that are compared by more than their bytes")
    return joined(found[:1], term)


def _operands(term: Term) -> tuple[Term, ...]:
    return term.operands if isinstance(term, Apply) else ()


def _place(term: Term, least: int) -> int:
    """Return a constant place or length within bounds: a greater one overflows somewhere."""
    match term:
        case Constant(value=int(place), kind="") if type(place) is int:
            if least <= place <= LONGEST_TEXT:
                return place
    raise Unfit("a text cut at what a row says, or beyond any text")


def _word(term: Term) -> str:
    match term:
        case Constant(value=str(word), kind="") if plain_text(word):
            return word
    raise Unfit("a text changed by what a row says")


def cut(found: list[Value], term: Term) -> Value:
    """Return the rule of substr: constant places only, since a negative length can raise."""
    letters = found[0].letters
    start, *most = (_place(each, 0) for each in _operands(term)[1:])
    left = max(letters - max(start - 1, 0), 0)
    return text(min([left, *most]))


def _like(found: list[Value], term: Term) -> Value:
    """Return the rule of LIKE: a text beside a constant one, without an escape sign.

    Engines that are read by the name of LIKE, not by DuckDB's sign, take a backslash for one, and
    PostgreSQL raises where a row matches up to a last one.
    """
    pattern = _word(_operands(term)[1])
    if isinstance(term, Apply) and term.name == "like" and "\\" in pattern:
        raise Unfit("an escape sign in LIKE")
    joined(found[:1], term)
    return BOOLEAN


def replaced(found: list[Value], term: Term) -> Value:
    """Return the rule of replace: places do not overlap, so there are as many as fit into the text."""
    old, new = map(_word, _operands(term)[1:])
    if not old:
        raise Unfit("nothing replaced by something")
    letters = found[0].letters
    return text(letters + letters // len(old) * max(len(new) - len(old), 0))


def split(found: list[Value], term: Term) -> Value:
    """Return the rule of split_part: the place is a constant from 1 on, since 0 can raise."""
    _, by, place = _operands(term)
    _word(by)
    _place(place, 1)
    return joined(found[:1], term)


def searched(found: list[Value], term: Term) -> Value:
    """Return the rule of a search by a pattern of the grammar."""
    joined(found[:1], term)
    pattern_in(_operands(term)[1])
    return BOOLEAN


def rewritten(found: list[Value], term: Term) -> Value:
    """Return the rule of regexp_replace, with the length of what many matches can become.

    Matches do not overlap, so what a group repeats over all of them is at most the text itself; there
    is one match more than letters at most, since an empty one stands between any two.
    """
    pattern = pattern_in(_operands(term)[1])
    try:
        added, repeats = check_replacement(_word(_operands(term)[2]), pattern.groups)
    except PatternRefused as odd:
        raise Unfit(str(odd)) from None
    options = [_word(each) for each in _operands(term)[3:]]
    if options not in ([], ["g"]):
        raise Unfit("a replacement with other options")
    letters = found[0].letters
    matches = letters + 1 if options else 1
    return text(letters * (1 + repeats) + matches * added)


def pattern_in(term: Term) -> Pattern:
    """Return a constant regular expression of the grammar that RE2 also knows."""
    written = _word(term)
    try:
        found = pattern_of(written)
        pc.match_substring_regex(pa.array([""]), written)
    except (PatternRefused, pa.ArrowInvalid):
        raise Unfit("a regular expression outside the kernel's grammar") from None
    return found


def length(found: list[Value], _term: Term) -> Value:
    """Return the rule of a text's number of letters."""
    return integer(0, found[0].letters, wide=False)


TEXTS: Mapping[str, Applied] = {
    **dict.fromkeys(("cast varchar", "cast text", "cast string"), Applied(_shown, (1,))),
    "||": Applied(joined, (2,)),
    "md5": Applied(_hashed, (1,)),
    **dict.fromkeys(("~~", "like"), Applied(_like, (2,))),
    "collate": Applied(_collated, (2,)),
}
"""What may be done with a text by signs and casts; the functions stand in `functions`."""


LONGEST_COUNTED = 1_000
"""Free text counts as no longer than this: a length has a range, as every number does."""


def _absolute_ends(low: Any, high: Any) -> tuple[Any, Any]:
    most = max(abs(low), abs(high))
    return (most * 0 if low <= 0 <= high else min(abs(low), abs(high))), most


def _absolute(found: list[Value], _term: Term) -> Value:
    least, most = _absolute_ends(*found[0].bounded)
    if found[0].narrow or (not found[0].wide and most >= 2**31):
        raise Unfit("the size of a narrow number, which may not fit")
    return integer(least, most, wide=found[0].wide)


def _substring(value: str, start: Any, length: Any = None) -> str:
    first = int(start) - 1
    end = None if length is None else max(first + int(length), 0)
    return str(value)[max(first, 0) : end]


def _exchanged(value: str, old: str, new: str) -> str:
    if not old:
        return value
    if value.count(old) * len(new) > LONGEST_TEXT:
        raise ValueError("longer than any text")
    return value.replace(old, new)


def _exchanged_sql(value: str, given: Sequence[str], constants: Sequence[Any]) -> str:
    return called("REPLACE")(value, given, constants) if constants[0] else value


def _split_part(value: str, by: str, place: Any) -> str:
    parts = value.split(by) if by else [value]
    at = int(place) - 1 if int(place) > 0 else len(parts) + int(place)
    return parts[at] if 0 <= at < len(parts) else ""


@lru_cache(maxsize=4096)
def _matches(value: str, pattern: str) -> bool:
    return bool(pc.match_substring_regex(pa.array([value]), pattern)[0].as_py())


@lru_cache(maxsize=4096)
def _replaced(value: str, pattern: str, other: str, *every: str) -> str:
    most = None if "g" in every else 1
    found = pc.replace_substring_regex(pa.array([value]), pattern, other, max_replacements=most)
    return str(found[0].as_py())


SEALED: dict[str, ScalarFunction] = {
    "abs": ScalarFunction(
        written=("ABS(x)",),
        takes="number",
        gives="number",
        compute=abs,
        whole=Whole.AS_OPERAND,
        steps=True,
        sql=called("ABS"),
        reach=_absolute_ends,
        applied={"abs": Applied(_absolute, (1,))},
    ),
    "upper": ScalarFunction(
        written=("UPPER(s)",),
        takes="category",
        gives="category",
        compute=lambda value: str(value).upper(),
        steps=True,
        sql=called("UPPER"),
        applied={"upper": Applied(recased, (1,))},
    ),
    "lower": ScalarFunction(
        written=("LOWER(s)",),
        takes="category",
        gives="category",
        compute=lambda value: str(value).lower(),
        steps=True,
        sql=called("LOWER"),
        applied={"lower": Applied(recased, (1,))},
    ),
    "length": ScalarFunction(
        written=("LENGTH(s)", "STRLEN(s)"),
        takes="category",
        gives="number",
        compute=len,
        whole=Whole.ALWAYS,
        steps=True,
        sql=called("LENGTH"),
        between=(0, LONGEST_COUNTED),
        applied={"length": Applied(length, (1,))},
    ),
    "left": ScalarFunction(
        written=("LEFT(s, 2)",),
        takes="category",
        gives="category",
        compute=lambda value, count: str(value)[: int(count)],
        constants=Constants(places=(1, 1)),
        steps=True,
        sql=lambda value, given, constants: called("SUBSTR")(value, ["1", *given], constants),
    ),
    "substring": ScalarFunction(
        written=("SUBSTRING(s, 2, 3)",),
        takes="category",
        gives="category",
        compute=_substring,
        constants=Constants(places=(1, 2)),
        steps=True,
        sql=called("SUBSTR"),
        # The second name is that of the other reader, as below.
        applied=dict.fromkeys(("substr", "substring"), Applied(cut, (2, 3))),
    ),
    "trim": ScalarFunction(
        written=("TRIM(s)",),
        takes="category",
        gives="category",
        compute=lambda value: str(value).strip(" "),
        steps=True,
        sql=called("TRIM"),
        applied={"trim": Applied(joined, (1,))},
    ),
    "replace": ScalarFunction(
        written=("REPLACE(s, 'a', 'b')",),
        takes="category",
        gives="category",
        compute=lambda value, old, new: _exchanged(str(value), old, new),
        constants=Constants(texts=True),
        steps=True,
        sql=_exchanged_sql,
        applied={"replace": Applied(replaced, (3,))},
    ),
    "split_part": ScalarFunction(
        written=("SPLIT_PART(s, ' ', 1)",),
        takes="category",
        gives="category",
        compute=lambda value, by, place: _split_part(str(value), str(by), place),
        constants=Constants(texts=True, places=(1, 1), from_one=True),
        steps=True,
        sql=called("SPLIT_PART"),
        applied=dict.fromkeys(("split_part", "splitpart"), Applied(split, (3,))),
    ),
    "starts_with": ScalarFunction(
        written=("STARTS_WITH(s, 'a')",),
        takes="category",
        gives="boolean",
        compute=lambda value, part: str(value).startswith(str(part)),
        constants=Constants(texts=True),
        steps=True,
        sql=lambda value, given, constants: (
            f"(SUBSTR({value}, 1, {len(str(constants[0]))}) = {given[0]})"
        ),
    ),
    "matches": ScalarFunction(
        written=("REGEXP_MATCHES(s, '^a')",),
        takes="category",
        gives="boolean",
        compute=lambda value, pattern: _matches(str(value), pattern),
        steps=True,
        # Other engines search by backtracking: how long that takes would follow from single rows.
        sql={"duckdb": called("regexp_matches")},
        applied={"regexp_matches": Applied(searched, (2,))},
    ),
    "replace_pattern": ScalarFunction(
        written=("REGEXP_REPLACE(s, 'a', 'b')",),
        takes="category",
        gives="category",
        compute=lambda value, *given: _replaced(str(value), *map(str, given)),
        steps=True,
        sql={"duckdb": called("regexp_replace")},
        applied={"regexp_replace": Applied(rewritten, (3, 4))},
    ),
}
"""By the name that a call has in a plan."""
