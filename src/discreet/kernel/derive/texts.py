"""Functions of text in final SQL: total on every text, and never longer than the statement allows.

Every number and every pattern beside the text is a constant inside small bounds, so no engine can
raise because of what a row says, and how much a row can grow is derived here, letter by letter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from discreet.kernel.derive.patterns import Odd, Pattern, check_replacement, pattern_of, plain_text
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


def _recased(found: list[Value], _term: Term) -> Value:
    return text(_CASES * found[0].letters)


def _collated(found: list[Value], term: Term) -> Value:
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


def _cut(found: list[Value], term: Term) -> Value:
    """Return the rule of substr: constant places only, since a negative length can raise."""
    letters = found[0].letters
    start, *length = (_place(each, 0) for each in _operands(term)[1:])
    left = max(letters - max(start - 1, 0), 0)
    return text(min([left, *length]))


def _like(found: list[Value], term: Term) -> Value:
    """Return the rule of LIKE: a text beside a constant one, without an escape sign."""
    _word(_operands(term)[1])
    joined(found[:1], term)
    return BOOLEAN


def _replaced(found: list[Value], term: Term) -> Value:
    old, new = map(_word, _operands(term)[1:])
    if not old:
        raise Unfit("nothing replaced by something")
    letters = found[0].letters
    return text(letters + letters // len(old) * max(len(new) - len(old), 0))


def _split(found: list[Value], term: Term) -> Value:
    """Return the rule of split_part: the place is a constant from 1 on, since 0 can raise."""
    _, by, place = _operands(term)
    _word(by)
    _place(place, 1)
    return joined(found[:1], term)


def _searched(found: list[Value], term: Term) -> Value:
    joined(found[:1], term)
    pattern_in(_operands(term)[1])
    return BOOLEAN


def _rewritten(found: list[Value], term: Term) -> Value:
    """Return the rule of regexp_replace, with the length of what many matches can become.

    Matches do not overlap, so what a group repeats over all of them is at most the text itself; there
    is one match more than letters at most, since an empty one stands between any two.
    """
    pattern = pattern_in(_operands(term)[1])
    try:
        added, repeats = check_replacement(_word(_operands(term)[2]), pattern.groups)
    except Odd as odd:
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
    except (Odd, pa.ArrowInvalid):
        raise Unfit("a regular expression outside the kernel's grammar") from None
    return found


def _length(found: list[Value], _term: Term) -> Value:
    return integer(0, found[0].letters, wide=False)


Rule = Callable[[list[Value], Term], Value]

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("cast varchar", "cast text", "cast string"), _shown),
    **dict.fromkeys(("||", "trim"), joined),
    **dict.fromkeys(("lower", "upper"), _recased),
    "md5": _hashed,
    **dict.fromkeys(("~~", "like"), _like),
    "replace": _replaced,
    **dict.fromkeys(("split_part", "splitpart"), _split),
    "regexp_matches": _searched,
    "regexp_replace": _rewritten,
    **dict.fromkeys(("substr", "substring"), _cut),
    "length": _length,
    "collate": _collated,
}
"""What may be done with a text."""

OPERANDS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("cast varchar", "cast text", "cast string", "md5"), (1,)),
    **dict.fromkeys(("lower", "upper", "trim", "length"), (1,)),
    **dict.fromkeys(("||", "collate", "~~", "like", "regexp_matches"), (2,)),
    **dict.fromkeys(("substr", "substring"), (2, 3)),
    **dict.fromkeys(("replace", "split_part", "splitpart"), (3,)),
    "regexp_replace": (3, 4),
}
"""How many operands there may be."""
