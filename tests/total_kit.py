"""A small world of drafts and cells: everything the kernel lists, beside the nastiest constants."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

import duckdb

from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    Dataset,
    DateDomain,
    IntegerDomain,
    Table,
    TextDomain,
)
from discreet.base.unit import Neighbours, PrivacyUnit
from discreet.privacy.kernel.canonical import CatalogScans, Declared
from discreet.privacy.kernel.cells import LONGEST_CELL
from discreet.privacy.kernel.facts import facts_of
from discreet.privacy.kernel.functions import LONGEST_TEXT
from discreet.privacy.kernel.nodes import Apply, Unfit, walk
from discreet.privacy.kernel.read_duckdb import read_duckdb
from kernel_kit import duckdb_tree

HUGE = 2**62
FIRST, LAST = dt.date(1, 1, 1), dt.date(9999, 12, 31)
WORLD = Table(
    "world",
    "world.parquet",
    PrivacyUnit(),
    (
        Column("said", TextDomain()),  # c0
        Column("sex", CategoryDomain(("f", "m"))),  # c1
        Column("huge", IntegerDomain(-HUGE, HUGE)),  # c2
        Column("some", IntegerDomain(-50, 50)),  # c3
        Column("flag", BooleanDomain()),  # c4
        Column("born", DateDomain(FIRST, LAST)),  # c5
    ),
    max_rows=1,
)
TOWN = Dataset("town", (WORLD,), Neighbours.ADD_REMOVE, "town")
SCANS = CatalogScans({"town.world": Declared(TOWN, WORLD)})

TEXTS = [
    "",
    " ",
    "a",
    "é",
    "İßΐŉ",
    "e\u0301",
    "👨‍👩‍👧",
    "\\",
    "%_",
    "\n",
    "a\tb",
    "a.b.c",
    "'",
    "\u202e",
]
LONG = [letter * LONGEST_CELL for letter in "aé👨."]
ROWS = [
    (said, sex, huge, some, flag, born)
    for said, (sex, huge, some, flag, born) in product(
        [None, *TEXTS, *LONG],
        [
            (None, None, None, None, None),
            ("f", -HUGE, -50, False, FIRST),
            ("m", HUGE, 50, True, LAST),
            ("f", 0, 0, True, dt.date(2000, 2, 29)),
        ],
    )
    if said not in LONG or some == 50
]

NUMBERS = ("0", "1", "-1", "2", "50", "10000", "100000", "100001", "2147483647", "2147483648")
NUMBERS += ("4294967296", "9223372036854775807", "99999999999999999999", "1.5", "NULL")
WORDS = ("''", "'a'", "'.'", "'é'", "'\\'", "NULL", "1", "'" + "a" * 2_000 + "'")
PATTERNS = (
    *("''", "'a'", "'.'", "'x*'", "'(a)|(b)'", "'[^a]+?'", "'^$'", r"'\b'", "'(|a)'", "'(?i)ß'"),
    *(
        r"'\C'",
        r"'\B'",
        "'(?<n>a)'",
        "'(?P<n>a)'",
        r"'\p{Greek}'",
        "'a**'",
        "'('",
        "'[a'",
        "'a{2000}'",
    ),
    *("'((a{1,30}){1,30}){1,30}'", r"'\Qa\E'", r"'\x{10FFFF}'", "'[[:word:]]'", "'(?=a)'", "NULL"),
)
REWRITES = ("''", "'x'", r"'\0'", r"'\1'", r"'\0\1\2'", r"'\9'", r"'\q'", "'\\'", r"'\\'", "NULL")
REWRITES += ("'" + "a" * 900 + "'",)
TEXT_FORMS = (
    *(
        "UPPER({})",
        "LOWER({})",
        "TRIM({})",
        "({} || {} || {} || {})",
        "md5({})",
        "CAST({} AS VARCHAR)",
    ),
    *("SUBSTR({}, 1, 200)", "SUBSTR({}, 0)", "REPLACE({}, 'a', 'bb')", "SPLIT_PART({}, '.', 3)"),
    *("REPLACE({}, 'é', '" + "é" * 900 + "')", "regexp_replace({}, '(.)', '\\1\\1', 'g')"),
    *("COALESCE({}, 'x')", "CASE WHEN t.c4 THEN {} END", "GREATEST({}, 'a')"),
)
NUMBER_FORMS = (
    *("({} + {})", "({} - {})", "({} * {})", "({} // {})", "({} % {})", "({} / {})"),
    *("GREATEST({}, {})", "CASE WHEN {} > {} THEN 1 END", "COALESCE({}, {})", "({} IN ({}))"),
)
ALONE = (
    *(
        "-t.c2",
        "-t.c3",
        "ABS(t.c2)",
        "CAST(t.c2 AS SMALLINT)",
        "CAST(t.c3 AS SMALLINT)",
        "CAST(t.c2 AS UTINYINT)",
        "CAST(t.c3 AS UTINYINT)",
        "CAST((CASE WHEN t.c3 > 9 THEN 9 WHEN t.c3 < 0 THEN 0 ELSE t.c3 END) AS UTINYINT)",
        "t.c0 = 'a'",
    ),
    *("CAST(t.c2 AS BIGINT)", "CAST(t.c2 AS DECIMAL(19, 0))", "CAST(t.c2 AS INTEGER)"),
    *("CAST(t.c2 AS VARCHAR)", "CAST(t.c5 AS VARCHAR)", "CAST(t.c4 AS VARCHAR)", "t.c0 < t.c1"),
    *("CAST(t.c0 AS BIGINT)", "CAST(t.c0 AS DATE)", "LENGTH(t.c0)", "LENGTH(t.c2)", "t.c0 = 1"),
    *("TRY_CAST(t.c0 AS ENUM('a', 'b'))", "enum_code(t.c1)", "enum_code(t.c0)", "NOT t.c4"),
    *("t.c5 - t.c5", "t.c5 - DATE '9999-12-31'", "t.c5 + 1", "t.c5 + INTERVAL 99999 YEAR"),
    *("date_diff('day', t.c5, DATE '9999-12-31')", "date_diff('second', t.c5, t.c5)", "SQRT(t.c3)"),
    *(
        "LN(t.c3)",
        "EXP(t.c2)",
        "POWER(t.c2, 9)",
        "t.c0 IS NULL",
        "t.c4 AND t.c0",
        "t.c0 IN ('a', NULL)",
    ),
    *("t.c0 NOT IN ('a', 'b')", "t.c4 OR NOT t.c4", "t.c0 IS NOT NULL", "REPEAT(t.c0, 999999999)"),
    *("LPAD(t.c0, 999999999, 'a')", "t.c0 LIKE '%' ESCAPE ''", "t.c0 ~ '('", "LEAST(t.c3, 2)"),
    *(
        "t.c3 BETWEEN 1 AND 2",
        "t.c0 <> 'a'",
        "t.c3 <= 1",
        "t.c3 >= 1",
        "enum_code(TRY_CAST(t.c0 AS ENUM('a', 'b')))",
    ),
    *(f"date_part('{part}', t.c5)" for part in ("year", "quarter", "month", "week", "day", "dow")),
    *(f"date_part('{part}', t.c5)" for part in ("isodow", "doy", "epoch", "nanosecond", "hour")),
)


def drafts() -> Iterator[str]:
    """Yield every scalar of the small world, one at a time."""
    yield from ALONE
    for text in ("t.c0", "CAST(t.c1 AS VARCHAR)"):
        yield from (f"SUBSTR({text}, {a})" for a in NUMBERS)
        yield from (f"SUBSTR({text}, {a}, {b})" for a, b in product(NUMBERS, repeat=2))
        yield from (f"SPLIT_PART({text}, {w}, {a})" for w, a in product(WORDS, NUMBERS))
        yield from (f"REPLACE({text}, {w}, {v})" for w, v in product(WORDS, repeat=2))
        yield from (f"({text} LIKE {p})" for p in (*WORDS, "'%_a%_a%_a%_a%b'", r"'a\'", "'_%'"))
    yield from (f"regexp_matches(t.c0, {p})" for p in PATTERNS)
    for p, r in product(PATTERNS, REWRITES):
        yield from (f"regexp_replace(t.c0, {p}, {r}{o})" for o in ("", ", 'g'", ", 'q'"))
    for one, two in product(TEXT_FORMS, repeat=2):
        inner = two.replace("{}", "t.c0")
        yield one.replace("{}", inner)
    for form, a, b in product(
        NUMBER_FORMS, ("t.c2", "t.c3", "t.c3 * t.c3"), ("t.c2", "t.c3", *NUMBERS)
    ):
        yield form.format(a, b)


def statement(scalar: str) -> str:
    """Return the draft that counts where a scalar is there."""
    return f'SELECT COUNT({scalar}) AS r0 FROM canon."town.world" AS t'


@cache
def _parsed() -> dict[str, str]:
    """Return DuckDB's parse of every draft: of all in one question, which takes a tenth of the time."""
    found = list(dict.fromkeys(drafts()))
    parse = "SELECT json_serialize_sql(x) FROM (SELECT UNNEST(?) AS x)"
    rows = world().execute(parse, [[statement(each) for each in found]]).fetchall()
    return dict(zip(found, (text for (text,) in rows), strict=True))


def accepted(scalar: str) -> frozenset[str] | None:
    """Return the functions of a scalar that the kernel accepts, None where it or DuckDB refuses."""
    parsed = _parsed()
    try:
        tree = read_duckdb(parsed[scalar]) if scalar in parsed else duckdb_tree(statement(scalar))
        facts_of(tree, SCANS)
    except Unfit:
        return None
    terms = [part for _, term in tree.outputs for part in walk(term)]
    return frozenset(part.name for part in terms if isinstance(part, Apply))


@cache
def world() -> duckdb.DuckDBPyConnection:
    """Return a DuckDB that holds the nasty rows as a canonical relation."""
    found = duckdb.connect(":memory:", config={"threads": 1, "memory_limit": "1GB"})
    found.execute("CREATE SCHEMA canon")
    found.execute(
        "CREATE TABLE canon.\"town.world\" (c0 VARCHAR, c1 ENUM('f', 'm'), c2 BIGINT, c3 BIGINT, "
        "c4 BOOLEAN, c5 DATE)"
    )
    found.executemany('INSERT INTO canon."town.world" VALUES (?, ?, ?, ?, ?, ?)', ROWS)
    return found


def failures(scalars: Sequence[str], together: int = 40) -> list[str]:
    """Return how scalars fail; many are tried in one statement, and by themselves only where that fails."""
    found = []
    for start in range(0, len(scalars), together):
        part = scalars[start : start + together]
        counted = ", ".join(f"COUNT({each})" for each in part)
        guarded = ", ".join(f"COUNT({_guarded(each)})" for each in part)
        longest = ", ".join(f"MAX(LENGTH(CAST({each} AS VARCHAR)))" for each in part)
        try:
            world().execute(statement("").replace("COUNT() AS r0", guarded)).fetchall()
            listed = f"{longest}, {counted}"  # in one statement: what both read is computed once
            most = world().execute(statement("").replace("COUNT() AS r0", listed)).fetchone()
            fine = most is not None and all((n or 0) <= LONGEST_TEXT for n in most[: len(part)])
        except duckdb.Error:
            fine = False
        found += [] if fine else [said for each in part if (said := failure(each)) is not None]
    return found


def _guarded(scalar: str) -> str:
    return f"CASE WHEN LENGTH(t.c0) > 9000 THEN {scalar} END"


def failure(scalar: str) -> str | None:
    """Return how a scalar fails on some row, alone or behind a condition; None where it never does."""
    longest = f"MAX(LENGTH(CAST({scalar} AS VARCHAR)))"
    try:
        world().execute(statement(_guarded(scalar))).fetchall()
        counted = statement(scalar).replace(" AS r0", f", {longest}", 1)
        most = world().execute(counted).fetchone()
    except duckdb.Error as error:
        return f"{scalar[:90]}: {str(error)[:90]}"
    if most is not None and (most[1] or 0) > LONGEST_TEXT:
        return f"{scalar[:90]}: {most[1]} letters"
    return None
