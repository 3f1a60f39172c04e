"""Which patterns and replacements may stand in final SQL: a small closed grammar, read here.

A pattern that one build of RE2 knows may be an error to the next one, and an error that depends on
whether a row is searched at all is an answer about that row. So only what every build knows is let
through: letters, classes, anchors, groups without names, alternatives, bounded repetition. Nothing
in the grammar can match half a letter.
"""

from __future__ import annotations

from dataclasses import dataclass

LONGEST_PATTERN = 1_000
"""Letters of a pattern, and of a replacement."""
MOST_REPEATED = 100
LARGEST_PROGRAM = 1_500
"""Steps that a pattern may have once its counted repetitions are written out."""

_FLAGS = ("(?i)", "(?s)", "(?is)", "(?si)")
_KINDS = "dDwWsS"
_SPELLED = "ntr"
_SIGNS = frozenset("\\.+*?()|[]{}^$-/ !\"#%&',:;<=>@_`~")
_SPECIAL = frozenset("\\.+*?()|[]{}^$")
_NAMED = ("alnum", "alpha", "digit", "lower", "punct", "space", "upper", "xdigit")
_DIGITS = "0123456789"


class PatternRefused(ValueError):
    """A pattern or a replacement outside the grammar; the message says what is."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What matters of a pattern: how many groups it has, and its steps once written out."""

    groups: int
    steps: int


def pattern_of(text: str) -> Pattern:
    """Return what matters of a regular expression, or raise `PatternRefused`.

    Guarantee: what is returned is valid in every RE2, searched in time linear in the text, and
        matches whole letters only.
    """
    if len(text) > LONGEST_PATTERN:
        raise PatternRefused(f"a pattern of more than {LONGEST_PATTERN:,} letters")
    if not plain_text(text):
        raise PatternRefused("a letter that no text has")
    flags = next((flag for flag in _FLAGS if text.startswith(flag)), "")
    reader = _Reader(text, len(flags))
    steps = reader.alternatives()
    if reader.at != len(text):
        raise PatternRefused("a bracket that nothing opens")
    return Pattern(reader.groups, steps)


def check_replacement(text: str, groups: int) -> tuple[int, int]:
    r"""Return the letters of a replacement and how often it repeats a group, or raise `PatternRefused`.

    \0 is the whole match, \1 the first group, \\ one backslash; nothing else follows a backslash.
    """
    if len(text) > LONGEST_PATTERN or not plain_text(text):
        raise PatternRefused(f"a replacement of more than {LONGEST_PATTERN:,} letters")
    letters = repeats = at = 0
    while at < len(text):
        if text[at] != "\\":
            letters, at = letters + 1, at + 1
            continue
        following = text[at + 1 : at + 2]
        if following == "\\":
            letters += 1
        elif following and following in _DIGITS and int(following) <= groups:
            repeats += 1
        else:
            raise PatternRefused(
                "a replacement with a backslash before something other than a group's number"
            )
        at += 2
    return letters, repeats


def plain_text(text: str) -> bool:
    """Return whether every engine can hold a text: no zero byte, no half of a pair."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


class _Reader:
    """Reads a pattern from left to right; each method returns the steps of what it has read."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.groups = 0
        self._depth = 0

    def alternatives(self) -> int:
        steps = self._sequence()
        while self._peek() == "|":
            self.at += 1
            steps += 1 + self._sequence()
        return self._within(steps)

    def _sequence(self) -> int:
        steps = 0
        while self._peek() not in ("", "|", ")"):
            steps = self._within(steps + self._repeated())
        return steps

    def _repeated(self) -> int:
        anchor = self._peek() in ("^", "$") or self.text.startswith("\\b", self.at)
        steps = self._atom()
        most = self._count()
        if most is None:
            return steps
        if anchor or self._count() is not None:
            raise PatternRefused("a repetition of something that cannot be repeated")
        return self._within((steps + 1) * most)

    def _count(self) -> int | None:
        """Return how often the last thing is written out; None where it is not repeated."""
        sign = self._peek()
        if sign in ("*", "+", "?"):
            self.at += 1
            most = 2
        elif sign == "{":
            end = self.text.find("}", self.at)
            low, comma, high = (
                self.text[self.at + 1 : end].partition(",") if end > 0 else ("", "", "")
            )
            ends = [part for part in (low, high) if part]
            if not low or any(set(part) - set(_DIGITS) or len(part) > 3 for part in ends):
                raise PatternRefused("a brace that counts nothing")
            most = max(map(int, ends)) + bool(comma and not high)
            if int(ends[-1]) < int(low) or not 1 <= most <= MOST_REPEATED:
                raise PatternRefused(f"a repetition of no times, or of more than {MOST_REPEATED}")
            self.at = end + 1
        else:
            return None
        if self._peek() == "?":
            self.at += 1
        return most

    def _atom(self) -> int:
        letter = self._peek()
        if letter == "(":
            return self._group()
        if letter == "[":
            return self._class()
        self.at += 1
        if letter == "\\":
            return self._escaped(also="b")
        if letter in _SPECIAL and letter not in (".", "^", "$"):
            raise PatternRefused(f"a {letter} that stands for nothing")
        return 12 if letter == "." else len(letter.encode())

    def _group(self) -> int:
        self.at += 1
        self._depth += 1
        if self._depth > 20:
            raise PatternRefused("brackets nested too deeply")
        if self._peek() == "?":
            if not self.text.startswith("?:", self.at):
                raise PatternRefused("a group with a name, a flag or a look around")
            self.at += 2
        else:
            self.groups += 1
        steps = self.alternatives()
        if self._peek() != ")":
            raise PatternRefused("a bracket that nothing closes")
        self.at += 1
        self._depth -= 1
        return steps + 2

    def _escaped(self, also: str = "") -> int:
        letter = self._peek()
        self.at += 1
        if not letter or (letter not in _SIGNS and letter not in _KINDS + _SPELLED + also):
            raise PatternRefused("a backslash before something other than a sign")
        return 12 if letter in "DWS" else 4 if letter in _KINDS else 1

    def _class(self) -> int:
        self.at += 1
        start = self.at
        if self._peek() == "^":
            self.at += 1
        members = 0
        while self._peek() != "]":
            first = self._member(first=not members)
            members += 1
            if self._peek() == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                last = self._member(first=False)
                if not first or not last or last < first:
                    raise PatternRefused("a range in a class that has no beginning or no end")
        if not members:
            raise PatternRefused("a class of nothing")
        self.at += 1
        # Letters beyond ASCII, and all but a few, take several ranges of bytes each.
        wide = self.text[start] == "^" or not self.text[start : self.at].isascii()
        return 12 + 4 * members if wide else 2 + members

    def _member(self, *, first: bool) -> str:
        """Return the one letter that a member of a class is, empty where it is a kind of letters."""
        letter = self._peek()
        if self.text.startswith("[:", self.at):
            name = next((n for n in _NAMED if self.text.startswith(f"[:{n}:]", self.at)), None)
            if name is None:
                raise PatternRefused("a class of letters with an unknown name")
            self.at += len(name) + 4
            return ""
        self.at += 1
        if letter == "\\":
            escaped = self._peek()
            self._escaped()
            return escaped if escaped in _SIGNS else ""
        # A dash stands for itself at either end of a class.
        if letter == "-" and (self._peek() == "]" or (first and self._peek() != "-")):
            return letter
        if letter in ("", "[", "-", "^"):
            raise PatternRefused("a sign in a class without a backslash")
        return letter

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _within(self, steps: int) -> int:
        if steps > LARGEST_PROGRAM:
            raise PatternRefused("a pattern that is too long once it is written out")
        return steps
