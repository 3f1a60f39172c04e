"""What the odd sources of `hunt.py` are declared as, and what their cells hold."""

from __future__ import annotations

CATS = '["b", "a", "A", "é", "e\u0301", "a ", "ß", "", "10", "x|y", "%", "NULL"]'
TOML = f"""
[datasets.town]
epsilon = 1000000
delta = 0.5
neighbours = "NEIGHBOURS"
[datasets.town.tables.folk]
source = "folk.parquet"
unit = "row"
[datasets.town.tables.folk.columns]
i = {{ type = "integer", lower = -5, upper = 9 }}
big = {{ type = "integer", lower = -1000000000000, upper = 1000000000000 }}
f = {{ type = "number", lower = -1.5, upper = 2.5, step = 0.25 }}
cat = {{ type = "category", values = {CATS}, missing = true }}
code = {{ type = "category", values = ["p", "q", "r"] COMPLETE }}
flag = {{ type = "boolean", missing = true }}
d = {{ type = "date", lower = 1999-12-30, upper = 2000-03-02 }}
ts = {{ type = "timestamp", lower = 2000-02-28T00:00:00, upper = 2000-03-01T12:00:00 }}
txt = {{ type = "text" }}
who = {{ type = "identifier" }}
[datasets.town.tables.places]
source = "places.parquet"
public = true
key_copies = 2
[datasets.town.tables.places.columns]
code = {{ type = "category", values = ["p", "q", "r"] }}
area = {{ type = "integer", lower = 0, upper = 50 }}
name = {{ type = "category", values = ["x", "y"] }}
[datasets.clinic]
epsilon = 1000000
delta = 0.5
neighbours = "NEIGHBOURS"
[datasets.clinic.tables.patients]
source = "patients.parquet"
unit = "person"
max_rows = 1
[datasets.clinic.tables.patients.columns]
person = {{ UNIT }}
sex = {{ type = "category", values = ["m", "f", "F"], constant = true, missing = true }}
age = {{ type = "integer", lower = 0, upper = 120, constant = true }}
born = {{ type = "date", lower = 1999-12-30, upper = 2000-03-02, constant = true }}
w = {{ type = "number", lower = 0, upper = 90, step = 0.5 }}
flag = {{ type = "boolean", constant = true }}
[datasets.clinic.tables.visits]
source = "visits.parquet"
unit = "person"
max_rows = 3
BOUND
[datasets.clinic.tables.visits.columns]
person = {{ UNIT }}
id = {{ type = "identifier" }}
ward = {{ type = "category", values = ["B", "A", "C"] COMPLETE }}
cost = {{ type = "number", lower = -5, upper = 5, step = 0.1 }}
code = {{ type = "integer", lower = -100000, upper = 100000 }}
day = {{ type = "date", lower = 2000-02-20, upper = 2001-03-02 }}
at = {{ type = "timestamp", lower = 1999-12-30T00:00:00, upper = 2000-03-02T00:00:00 }}
reason = {{ type = "text" }}
[datasets.clinic.tables.labs]
source = "labs.parquet"
unit = "visit -> visits.id -> person"
max_rows = 2
[datasets.clinic.tables.labs.columns]
visit = {{ type = "identifier" }}
val = {{ type = "integer", lower = -7, upper = 7 }}
kind = {{ type = "category", values = {CATS} }}
grade = {{ type = "integer", lower = 1, upper = 4, constant = true }}
[datasets.clinic.tables.notes]
source = "notes.parquet"
unit = "person"
max_rows = 2
bound = "table"
[datasets.clinic.tables.notes.columns]
person = {{ UNIT }}
sort = {{ type = "category", values = ["b", "a"], same = {{ a = ["A ", "\u03b1"] }}, any_case = true, trim = true, constant = true }}
n = {{ type = "integer", lower = 0, upper = 1500, thousands = ",", empty = ["99", "n/a"] }}
x = {{ type = "number", lower = -2, upper = 2, step = 0.5, decimal = ",", thousands = ".", signs = ["$"] }}
seen = {{ type = "date", lower = 1999-12-30, upper = 2000-03-02, format = ["%d.%m.%y", "%Y-%m-%d"] }}
ok = {{ type = "boolean", same = {{ true = ["ja"], false = ["nein"] }}, any_case = true, constant = true }}
[datasets.clinic.tables.wards]
source = "wards.parquet"
public = true
key_copies = 2
[datasets.clinic.tables.wards.columns]
ward = {{ type = "category", values = ["B", "A", "C"] }}
floor = {{ type = "integer", lower = 0, upper = 9 }}
wing = {{ type = "category", values = ["east", "west"] }}
since = {{ type = "date", lower = 1999-12-30, upper = 2000-03-02 }}
"""
WHOLE = "0 1 2 -1 -5 9 5 3 10 -6 121 120 100000 -100000 127 -128 2147483647 1000000000000"
WHOLE += " 9223372036854775807 -9223372036854775808 18446744073709551615"
WHOLE += " 170141183460469231731687303715884105727 1e308 -1e308 1.5 0.999999999999 NaN inf -inf -0.0 007 +3 1e2"
REAL = (
    WHOLE
    + " 0.25 -1.5 2.5 2.4999999999999996 2.375 -1.625 50 -50 49.95 0.05 1e-320 5e-324 89.75 1e18 1e19"
)
WORDS = [
    "a",
    "A",
    "b",
    "B",
    "",
    " ",
    "a ",
    " a",
    "é",
    "e\u0301",
    "É",
    "ß",
    "ẞ",
    "SS",
    "p",
    "q",
    "r",
    "m",
    "f",
    "F",
]
WORDS += [
    "10",
    "10.0",
    "x|y",
    "%",
    "NULL",
    "C",
    "a\u0000b",
    "\u200d",
    "ja",
    "NEIN",
    "\u03b1",
    "A ",
    "1,234",
    "n/a",
    "99",
    "-1,5",
]
WORDS += [
    "İ" * 50,
    "ŉ" * 300,
    "a" * 10050,
    "\n",
    "a\nb",
    "\\",
    "'",
    '"',
    "\U0001f468\u200d\U0001f469",
    "$1,5",
    "true",
    "t",
]
DAYS = "2000-02-29 1999-12-30 1999-12-29 2000-03-02 2000-03-03 2000-01-01 2000-12-31 0001-01-01 9999-12-31 infinity"
DAYS += " -infinity 5881580-07-10 29.02.00 30.02.00 2000-02-30 1.1.2000 2000-6-1"
TIMES = [
    f"{day}{clock}"
    for day in DAYS.split()
    for clock in ("", " 23:59:59.999999", " 12:00:00+14", "T24:00:00")
]
TIMES += [
    "290309-12-22 (BC) 00:00:00",
    "294247-01-10 04:00:54.775806",
    "2000-02-29 00:00:60",
    "2000-02-28 00:00:00 UTC",
]
NAMES = [
    "eva",
    "EVA",
    "Eva",
    "eva ",
    "e\u0301va",
    "éva",
    "\u200deva",
    "",
    "7",
    "07",
    "7.0",
    "-0",
    "NULL",
]
TYPES = {
    "integer": "BIGINT TINYINT HUGEINT UHUGEINT UBIGINT DECIMAL(38,0) DECIMAL(38,9) DOUBLE FLOAT VARCHAR NOCASE DECIMAL(4,1)",
    "number": "DOUBLE FLOAT DECIMAL(18,3) DECIMAL(38,37) VARCHAR HUGEINT BIGINT UBIGINT",
    "category": "VARCHAR NOCASE NOACCENT BIGINT DOUBLE BOOLEAN",
    "boolean": "BOOLEAN INTEGER VARCHAR HUGEINT UBIGINT",
    "date": "DATE TIMESTAMP TIMESTAMP_NS TIMESTAMP_S TIMESTAMP_MS TIMESTAMPTZ VARCHAR",
    "timestamp": "TIMESTAMP TIMESTAMP_NS TIMESTAMP_S TIMESTAMPTZ VARCHAR DATE",
    "text": "VARCHAR NOCASE DOUBLE DATE TIMESTAMP_NS BOOLEAN UUID",
    "identifier": "VARCHAR NOCASE BIGINT DOUBLE",
}
"""How a column of a declared kind may be stored; a collation stands for a text with it."""
CELLS: dict[str, list[str]] = {
    "integer": WHOLE.split(),
    "number": REAL.split(),
    "category": WORDS,
    "boolean": ["0", "1", "2", "true", "false", "t", "no", *WORDS],
    "date": TIMES,
    "timestamp": TIMES,
    "text": WORDS,
    "identifier": WORDS,
}


def stored_as(kind: str) -> list[str]:
    """Return the storage types of a declared kind, the plainest first."""
    collated = {"NOCASE": "VARCHAR COLLATE NOCASE", "NOACCENT": "VARCHAR COLLATE NOACCENT"}
    return [collated.get(each, each) for each in TYPES[kind].split()]
