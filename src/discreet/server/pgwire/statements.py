"""Text to statements: split at semicolons, first word, the hints in comments; and to a tree, or refused with its place."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace

import sqlglot
from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import TokenType

from discreet import curator as api
from discreet.data.engines.dialects import text_constant
from discreet.errors import QueryRefused
from discreet.server.pgwire.messages import Failure

MAX_STATEMENTS = 100
LONGEST = 100_000
DEEPEST = 200

_PIECE = re.compile(
    r"""
      (?P<comment>--[^\r\n]*)
    | (?P<block>/\*)
    | (?P<escaped>[eE]'(?:[^'\\]|\\.|'')*+')
    | (?P<string>'(?:[^']|'')*+')
    | (?P<name>"(?:[^"]|"")*+")
    | (?P<dollar>\$(?:[A-Za-z_]\w*+)?\$)
    | (?P<parameter>\$\d+)
    | (?P<word>[A-Za-z_\u0080-\uffff][\w$]*)
    | (?P<semicolon>;)
    | (?P<open>['"])
    """,
    re.VERBOSE | re.DOTALL,
)
_ODD_NAMES = {"SELECT", "TABLE", "UPDATE", "INSERT", "DELETE", "ROLE", "USER", "REFERENCES"}
_BRACKET = re.compile(r"[()\[\]]")
_EDGE = re.compile(r"/\*|\*/")
_HINT = re.compile(r"\bdiscreet\.(\w++)\s*+=\s*+([\w.+%-]++)")


NAME = r'(?P<name>"(?:[^"]|"")++"|[^\W\d][\w$]*+)'
"""The name of something in a statement, as a part of a pattern; `name_in` spells it out."""
_QUOTED_OR_BRACKET = re.compile(
    r"""[eE]'(?:[^'\\]|\\.|'')*+'|'(?:[^']|'')*+'|"(?:[^"]|"")*+"|[()]""", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class WireStatement:
    """One statement: its text without comments, its leading words, and the hints in its comments.

    `places` says where the text was sent: from each (place in the text, place in what was sent) on.
    `unit`: the column that WITH DIFFERENTIAL_PRIVACY calls the privacy unit.
    """

    text: str
    words: tuple[str, ...]
    hints: tuple[tuple[str, str], ...]
    places: tuple[tuple[int, int], ...] = ((0, 0),)
    unit: str | None = None

    @property
    def verb(self) -> str:
        """Return the first word, in capitals; empty where there is nothing."""
        return self.words[0] if self.words else ""

    def sent_at(self, place: int) -> int:
        """Return where the character at `place` of the text stood in what the client sent."""
        here, there = self.places[max(bisect_right(self.places, (place, 1 << 30)) - 1, 0)]
        return there + place - here

    def part(self, begin: int, end: int | None = None) -> WireStatement:
        """Return a part of the text as a statement of its own with the same hints."""
        found = split(self.text[begin:end])
        inner = found[0] if found else WireStatement("", (), ())
        places = tuple((here, self.sent_at(begin + there)) for here, there in inner.places)
        unit = self.unit or inner.unit
        return WireStatement(inner.text, inner.words, (*self.hints, *inner.hints), places, unit)

    def after(self, words: int) -> WireStatement:
        """Return what follows the first `words` words, as a statement with the same hints."""
        begin = 0
        for word in self.words[:words]:
            begin = self.text.upper().index(word, begin) + len(word)
        return self.part(begin)


def name_in(found: re.Match[str]) -> str:
    """Return the name that NAME has matched: in lower case, or as it is quoted."""
    written = found["name"]
    return written[1:-1].replace('""', '"') if written.startswith('"') else written.lower()


def closing(text: str, opened: int) -> int | None:
    """Return where the bracket closes that `text` opens at `opened`; None where it does not."""
    depth = 0
    for piece in _QUOTED_OR_BRACKET.finditer(text, opened):
        depth += {"(": 1, ")": -1}.get(piece.group(), 0)
        if depth == 0:
            return piece.start()
    return None


class _Splitter:
    def __init__(self, sql: str) -> None:
        self.sql = sql
        self.at = 0
        self.found: list[WireStatement] = []
        self.parts: list[tuple[str, int]] = []
        self.words: list[str] = []
        self.hints: list[tuple[str, str]] = []
        self.leading = True
        self.previous = ""
        self.ended = 0

    def run(self) -> list[WireStatement]:
        while (piece := _PIECE.search(self.sql, self.at)) is not None:
            self._plain(self.at, piece.start())
            kind, text = piece.lastgroup, piece.group()
            begin, self.at = piece.start(), piece.end()
            if kind == "comment":
                self._comment(text, begin)
            elif kind == "block":
                self._block(begin)
            elif kind == "dollar":
                self._dollar(text, begin)
            elif kind == "semicolon":
                self._end()
            elif kind == "open":
                raise _unclosed("A quotation mark is not closed.")
            elif kind == "parameter":
                # The parser would take $1,$ for the opening of a quotation: a space tells them apart.
                self._piece(f"{text} ", begin, word=False)
            else:
                self._piece(text, begin, word=kind == "word")
        self._plain(self.at, len(self.sql))
        self._end()
        return self.found

    def _plain(self, begin: int, end: int) -> None:
        text = self.sql[begin:end]
        if text.strip():
            self.leading = False
            self.previous = ""
        self.parts.append((text, begin))

    def _piece(self, text: str, begin: int, *, word: bool) -> None:
        if word and self.leading and len(self.words) < 4:
            self.words.append(text.upper())
        else:
            self.leading = False
        # PostgreSQL takes any word after AS for a name; the parser does not.
        making = self.words[:1] == ["CREATE"]  # ... VIEW name AS SELECT
        renaming = word and self.previous == "AS" and not making and text.upper() in _ODD_NAMES
        self.parts.append((f'"{text.lower()}"' if renaming else text, begin))
        self.previous = text.upper() if word else ""

    def _comment(self, text: str, begin: int) -> None:
        self.hints += [(name.lower(), value) for name, value in _HINT.findall(text)]
        self.parts.append((" ", begin))  # a comment separates words

    def _block(self, begin: int) -> None:
        depth = 1
        for edge in _EDGE.finditer(self.sql, self.at):
            depth += 1 if edge.group() == "/*" else -1
            if depth == 0:
                inside, self.at = self.sql[self.at : edge.start()], edge.end()
                self._comment(inside, begin)
                return
        raise _unclosed("A comment is not closed.")

    def _dollar(self, tag: str, begin: int) -> None:
        end = self.sql.find(tag, self.at)
        if end < 0:
            raise _unclosed("A $ quotation is not closed.")
        content = text_constant(self.sql[self.at : end])
        self.at = end + len(tag)
        self._piece(content, begin, word=False)

    def _end(self) -> None:
        text, places = _joined(self.parts)
        self.ended += 1  # empty ones count as well: each of them is work
        if text:
            found = WireStatement(text, tuple(self.words), tuple(self.hints), places)
            self.found.append(_priced(found))
        if self.ended > MAX_STATEMENTS + 1:  # the last may be the nothing after a semicolon
            raise QueryRefused(
                "So many statements at once are declined.",
                hint=f"Send at most {MAX_STATEMENTS} at a time.",
                construct="several statements",
            )
        self.parts, self.words, self.hints, self.leading = [], [], [], True


def _joined(parts: list[tuple[str, int]]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the parts as one text without space around it, and where each part was sent."""
    whole = "".join(text for text, _ in parts)
    skipped = len(whole) - len(whole.lstrip())
    places: list[tuple[int, int]] = []
    at = -skipped
    for text, sent in parts:
        if at + len(text) > 0 or not places:
            places.append((max(at, 0), sent + max(-at, 0)))
        at += len(text)
    return whole.strip(), tuple(places) or ((0, 0),)


def _priced(found: WireStatement) -> WireStatement:
    """Return a statement without WITH DIFFERENTIAL_PRIVACY; its price becomes a hint."""
    price = api.priced(found.text)
    removed = len(found.text) - len(price.text)
    if not removed:
        return found
    begin = len("SELECT ")
    behind = [(here - removed, there) for here, there in found.places if here > begin + removed]
    places = (found.places[0], (begin, found.sent_at(begin + removed)), *behind)
    hints = found.hints if price.epsilon is None else (*found.hints, ("epsilon", price.epsilon))
    return WireStatement(price.text, found.words, hints, places, price.unit)


def _unclosed(hint: str) -> QueryRefused:
    return QueryRefused("This is not valid SQL.", hint=hint, construct="syntax")


def split(sql: str) -> list[WireStatement]:
    """Return the statements of `sql`; what is only space and comments is none.

    Guarantee: the work is linear in the length, and the length has a limit that is looked at first.
    """
    if len(sql) > LONGEST:
        raise _bomb()
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
        raise _bomb()


def _bomb() -> QueryRefused:
    return QueryRefused(
        "This statement is too long or nested too deeply.",
        hint=f"Use at most {LONGEST:,} characters and {DEEPEST} brackets inside each other.",
        construct="too large",
    )


class _CatalogDialect(Postgres):
    """PostgreSQL as catalog queries speak it: oid[] and regtype[] are types as well."""

    class Tokenizer(Postgres.Tokenizer):
        """Words such as oid are names of types; the parser's own rule for them takes no []."""

        KEYWORDS = {  # noqa: RUF012  # as the parser declares its own
            word: kind
            for word, kind in Postgres.Tokenizer.KEYWORDS.items()
            if kind is not TokenType.OBJECT_IDENTIFIER
        }


_KINDS = exp.Select | exp.SetOperation | exp.Values | exp.Subquery | exp.Table
_LONGEST = 40
_AROUND = ("start_context", "highlight", "end_context")


def browsed(statement: WireStatement) -> exp.Expr:
    """Return the tree of one SELECT, as a client's PostgreSQL; questions are not answered from it."""
    try:
        parsed = sqlglot.parse(statement.text, read=_CatalogDialect)
        trees = [tree for tree in parsed if tree is not None]
    except Exception as error:  # noqa: BLE001  # broken text trips the parser in many ways of its own
        raise misread(statement, error) from None
    if len(trees) != 1 or not isinstance(trees[0], _KINDS):
        raise Failure("0A000", "Only SELECT statements can be asked.")
    found: exp.Expr = trees[0]
    if found.args.get("into"):
        raise Failure("25006", "SELECT INTO is declined: nothing can be written here.")
    return found


def asked(statement: WireStatement) -> api.ParsedStatement:
    """Return a question, parsed as all questions are, whichever door they come through."""
    try:
        return replace(api.parsed(statement.text), unit=statement.unit)
    except QueryRefused as error:
        if error.construct != "syntax":
            raise
    try:
        sqlglot.parse(statement.text, read="duckdb")  # once more, for the place of the mistake
    except Exception as error:  # noqa: BLE001  # as above
        raise misread(statement, error) from None
    raise misread(statement, ValueError())


def misread(statement: WireStatement, error: Exception) -> Failure:
    """Return the refusal of a text that is not SQL; the place is counted in letters, from 1 on."""
    found = error.errors[0] if isinstance(error, ParseError) and error.errors else {}
    before, near, after = (str(found.get(part) or "") for part in _AROUND)
    # By its surroundings: the parser's own columns are off after texts of several lines.
    begin = statement.text.find(before + near + after) if near else -1
    if begin < 0:
        return Failure("42601", "This is not valid SQL.")
    return Failure(
        "42601",
        f'This is not valid SQL at or near "{near[:_LONGEST]}".',
        position=statement.sent_at(begin + len(before)) + 1,
    )
