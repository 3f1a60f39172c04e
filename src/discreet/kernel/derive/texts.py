"""Functions of text in final SQL: total on every text, and never longer than the statement allows.

Every number and every pattern beside the text is a constant inside small bounds, so no engine can
raise because of what a row says, and how much a row can grow is derived here, letter by letter.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from discreet.kernel.derive.patterns import (
    Pattern,
    PatternRefused,
    check_replacement,
    pattern_of,
    plain_text,
)
from discreet.kernel.derive.row import Applied
from discreet.kernel.derive.values import BOOLEAN, LONGEST_TEXT, Value, ValueKind, integer, text
from discreet.kernel.trees.nodes import Apply, Constant, Term, Unfit

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
