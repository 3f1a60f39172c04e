"""Text to statements: split at semicolons, first word, and the hints in comments."""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.errors import QueryRefused

MAX_STATEMENTS = 100
LONGEST = 100_000
DEEPEST = 200

_PIECE = re.compile(
    r"""
      (?P<comment>--[^\r\n]*)
    | (?P<block>/\*)
    | (?P<escaped>[eE]'(?:[^'\\]|\\.|'')*')
    | (?P<string>'(?:[^']|'')*')
    | (?P<name>"(?:[^"]|"")*")
    | (?P<dollar>\$(?:[A-Za-z_]\w*)?\$)
    | (?P<word>[A-Za-z_\u0080-\uffff][\w$]*)
    | (?P<semicolon>;)
    | (?P<open>['"])
    """,
    re.VERBOSE | re.DOTALL,
)
_ODD_NAMES = {"SELECT", "TABLE", "UPDATE", "INSERT", "DELETE", "ROLE", "USER", "REFERENCES"}
_BRACKET = re.compile(r"[()\[\]]")
_EDGE = re.compile(r"/\*|\*/")
_HINT = re.compile(r"\bdiscreet\.(\w+)\s*=\s*([\w.+%-]+)")


@dataclass(frozen=True, slots=True)
class WireStatement:
    """One statement: its text without comments, its leading words, and the hints in its comments."""

    text: str
    words: tuple[str, ...]
    hints: tuple[tuple[str, str], ...]

    @property
    def verb(self) -> str:
        """Return the first word, in capitals; empty where there is nothing."""
        return self.words[0] if self.words else ""

    def after(self, words: int) -> WireStatement:
        """Return what follows the first `words` words, as a statement with the same hints."""
        rest = self.text
        for word in self.words[:words]:
            place = rest.upper().index(word)
            rest = rest[place + len(word) :]
        found = split(rest)
        inner = found[0] if found else WireStatement("", (), ())
        return WireStatement(inner.text, inner.words, (*self.hints, *inner.hints))


class _Splitter:
    def __init__(self, sql: str) -> None:
        self.sql = sql
        self.at = 0
        self.found: list[WireStatement] = []
        self.parts: list[str] = []
        self.words: list[str] = []
        self.hints: list[tuple[str, str]] = []
        self.leading = True
        self.previous = ""

    def run(self) -> list[WireStatement]:
        while (piece := _PIECE.search(self.sql, self.at)) is not None:
            self._plain(self.sql[self.at : piece.start()])
            kind, text = piece.lastgroup, piece.group()
            self.at = piece.end()
            if kind == "comment":
                self._comment(text)
            elif kind == "block":
                self._block()
            elif kind == "dollar":
                self._dollar(text)
            elif kind == "semicolon":
                self._end()
            elif kind == "open":
                raise QueryRefused(
                    "This is not valid SQL.",
                    hint="A quotation mark is not closed.",
                    construct="syntax",
                )
            else:
                self._piece(text, word=kind == "word")
        self._plain(self.sql[self.at :])
        self._end()
        return self.found

    def _plain(self, text: str) -> None:
        if text.strip():
            self.leading = False
            self.previous = ""
        self.parts.append(text)

    def _piece(self, text: str, *, word: bool) -> None:
        if word and self.leading and len(self.words) < 4:
            self.words.append(text.upper())
        else:
            self.leading = False
        # PostgreSQL takes any word after AS for a name; the parser does not.
        renaming = word and self.previous == "AS" and text.upper() in _ODD_NAMES
        self.parts.append(f'"{text.lower()}"' if renaming else text)
        self.previous = text.upper() if word else ""

    def _comment(self, text: str) -> None:
        self.hints += [(name.lower(), value) for name, value in _HINT.findall(text)]
        self.parts.append(" ")  # a comment separates words

    def _block(self) -> None:
        begin, depth = self.at, 1
        for edge in _EDGE.finditer(self.sql, begin):
            depth += 1 if edge.group() == "/*" else -1
            if depth == 0:
                self.at = edge.end()
                self._comment(self.sql[begin : edge.start()])
                return
        raise QueryRefused(
            "This is not valid SQL.", hint="A comment is not closed.", construct="syntax"
        )

    def _dollar(self, tag: str) -> None:
        end = self.sql.find(tag, self.at)
        if end < 0:
            raise QueryRefused(
                "This is not valid SQL.", hint="A $ quotation is not closed.", construct="syntax"
            )
        content = self.sql[self.at : end].replace("'", "''")
        self.at = end + len(tag)
        self._piece(f"'{content}'", word=False)

    def _end(self) -> None:
        text = "".join(self.parts).strip()
        if text:
            self.found.append(WireStatement(text, tuple(self.words), tuple(self.hints)))
            if len(self.found) > MAX_STATEMENTS:
                raise QueryRefused(
                    "So many statements at once are declined.",
                    hint=f"Send at most {MAX_STATEMENTS} at a time.",
                    construct="several statements",
                )
        self.parts, self.words, self.hints, self.leading = [], [], [], True


def split(sql: str) -> list[WireStatement]:
    """Return the statements of `sql`; what is only space and comments is none."""
    return _Splitter(sql).run()


def refuse_bomb(sql: str) -> None:
    """Refuse a text that no client writes, before any parser sees it: deep nesting would end it.

    Brackets inside of quotations count, too: what is refused needlessly is as odd.
    """
    depth = deepest = 0
    if len(sql) <= LONGEST:
        for bracket in _BRACKET.finditer(sql):
            depth += 1 if bracket.group() in "([" else -1
            deepest = max(deepest, depth)
    if len(sql) > LONGEST or deepest > DEEPEST:
        raise QueryRefused(
            "This statement is too long or nested too deeply.",
            hint=f"Use at most {LONGEST:,} characters and {DEEPEST} brackets inside each other.",
            construct="too large",
        )
