"""How the cells of a column are written in their source, as the owner declared it.

Public facts, and part of a column's fingerprint: the same text read in another way is another column.
The patterns here are read alike by RE2, Java, PostgreSQL and Python.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

from discreet.errors import CatalogError

THOUSANDS = (",", ".", "'", "\u2019", " ", "\u00a0", "\u202f", "_")
DECIMALS = (".", ",")
SPACES = " \t\u00a0"
"""What `trim` takes away on both sides of a text."""
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MOST_SPELLINGS = 2_000
_CODES = {
    "%Y": "([0-9]{4})",
    "%y": "([0-9]{2})",
    "%m": "([0-9]{1,2})",
    "%d": "([0-9]{1,2})",
    "%b": "([A-Za-z]{3})",
}
TIME_BEHIND = "(?:[ T][ -~]*)?"
"""What may stand behind a day."""
_DAY_CODES = ({"%Y", "%y"}, {"%m", "%b"}, {"%d"})
_TIME_CODES = ("%H", "%I", "%M", "%S", "%f", "%p")
_SIGN = re.compile(r"[^0-9+\-\\^\[\]\s]{1,8}")
_PLAIN_LETTERS = re.compile(r"[A-Za-z0-9 ,]")


@dataclass(frozen=True, slots=True)
class Spelling:
    """What the owner said about the texts of one column.

    `trim`: spaces around do not count. `any_case`: the letters A to Z and a to z do not differ.
    `empty`: texts that say "no value here". `same`: a declared value and its other spellings.
    `thousands`, `decimal`, `signs`: how numbers are grouped, pointed and marked (1.234,50 EUR).
    `dates`: strptime codes, the first that fits counts; nothing means 2024-12-31.
    `encoding`: that of the whole text file; its reader uses it, no expression does.
    """

    trim: bool = False
    any_case: bool = False
    empty: tuple[str, ...] = ()
    same: tuple[tuple[str, tuple[str, ...]], ...] = ()
    thousands: str = ""
    decimal: str = "."
    signs: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    encoding: str = ""

    def __post_init__(self) -> None:
        if self.thousands and self.thousands not in THOUSANDS:
            raise CatalogError("thousands is one of: comma, point, apostrophe, space, underscore.")
        if self.decimal not in DECIMALS:
            raise CatalogError('decimal is "." or ",".')
        if self.thousands == self.decimal:
            raise CatalogError("thousands and decimal must be two different signs.")
        for sign in self.signs:
            if not _SIGN.fullmatch(sign) or all(letter in ".,'" for letter in sign):
                raise CatalogError(
                    'signs are short marks beside a number, such as "$", "EUR" or "kr".'
                )
        for spelled in self.dates:
            date_pattern(spelled)

    @property
    def plain(self) -> bool:
        """Return whether cells are read as they stand."""
        return replace(self, encoding="") == PLAIN

    @property
    def numeral(self) -> bool:
        """Return whether numbers are written in another way than SQL writes them."""
        return bool(self.thousands or self.signs) or self.decimal != "."

    def words(self) -> str:
        """Return how cells are read, for the owner; nothing where they are read as they stand.

        >>> Spelling(any_case=True, same=(("F", ("Female",)),), empty=("n/a",)).words()
        "capital and small letters are the same; F = Female; 'n/a' as missing"
        >>> Spelling(thousands=".", decimal=",", signs=("EUR",)).words()
        'numbers as 1.234,5 beside EUR'
        """
        said = ["spaces around do not count"] if self.trim else []
        said += ["capital and small letters are the same"] if self.any_case else []
        said += [" = ".join([value, *others]) for value, others in self.same]
        said += [f"{', '.join(map(repr, self.empty))} as missing"] if self.empty else []
        if self.numeral:
            signs = f" beside {', '.join(self.signs)}" if self.signs else ""
            said.append(f"numbers as 1{self.thousands}234{self.decimal}5{signs}")
        said += [f"dates as {', '.join(self.dates)}"] if self.dates else []
        return "; ".join(said)


PLAIN = Spelling()


@cache
def date_pattern(spelled: str) -> tuple[str, tuple[str, ...]]:
    """Return the pattern of a date and what its groups are: ('([0-9]{4})-...', ('%Y', ...)).

    Days and months may have one digit. A time of day may follow, and is not read.
    """
    pattern, at = "", 0
    codes: list[str] = []
    while at < len(spelled) and not all(codes_of & set(codes) for codes_of in _DAY_CODES):
        code = spelled[at : at + 2]
        if code in _CODES:
            pattern, at = pattern + _CODES[code], at + 2
            codes.append(code)
        elif code.startswith("%"):
            break
        else:
            pattern, at = pattern + _exactly(spelled[at]), at + 1
    rest = spelled[at:]
    once = all(len(codes_of & set(codes)) == 1 for codes_of in _DAY_CODES) and len(codes) == 3
    if not once or not _only_a_time(rest):
        raise CatalogError(
            f"Dates spelled '{spelled}' cannot be read.",
            hint="Use a spelling made of %Y (or %y), %m (or %b) and %d, or convert the column.",
        )
    return pattern + TIME_BEHIND, tuple(codes)


def _only_a_time(rest: str) -> bool:
    for code in _TIME_CODES:
        rest = rest.replace(code, "")
    return "%" not in rest


def _exactly(letter: str) -> str:
    if _PLAIN_LETTERS.fullmatch(letter):
        return letter
    if letter in "\\^[]":
        raise CatalogError("A date is spelled with points, slashes, dashes, commas or spaces.")
    return f"[{letter}]"


def number_pattern(spelling: Spelling) -> str:
    """Return the pattern of a number: digits in groups of three or in one, and a mark beside them."""
    group, point = f"[{spelling.thousands}]", f"[{spelling.decimal}]"
    whole = "[0-9]{1,30}"
    if spelling.thousands:
        whole = f"(?:[0-9]{{1,3}}(?:{group}[0-9]{{3}}){{1,9}}|{whole})"
    number = f"(?:{whole}(?:{point}[0-9]{{0,30}})?|{point}[0-9]{{1,30}})"
    if not spelling.signs:
        return f"[+-]?{number}"
    marks = "|".join("".join(_exactly(letter) for letter in s) for s in _longest_first(spelling))
    mark, space = f"(?:{marks})", "[ \u00a0]?"
    before = f"[+-]?(?:{mark}{space})?{number}"
    return f"(?:{before}|{mark}{space}[+-]{number}|[+-]?{number}{space}{mark})"


def removed_from_numbers(spelling: Spelling) -> tuple[str, ...]:
    """Return what is taken out of a text that fits `number_pattern`, in this order."""
    marks = (*_longest_first(spelling), " ", "\u00a0") if spelling.signs else ()
    return (*marks, *([spelling.thousands] if spelling.thousands else []))


def _longest_first(spelling: Spelling) -> list[str]:
    # "F" must not eat the end of "CHF".
    return sorted(spelling.signs, key=lambda sign: (-len(sign), sign))
