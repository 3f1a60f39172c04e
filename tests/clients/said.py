"""What all Python programs share: saying what a check got, and the questions that everybody asks."""

import datetime as dt
import json
import os
from decimal import Decimal

HOST, PORT = os.environ["PGHOST"], int(os.environ["PGPORT"])
USER, TOKEN = os.environ["PGUSER"], os.environ["PGPASSWORD"]
EPSILON = os.environ["DISCREET_EPSILON"]
URL = (
    f"postgresql://{USER}:{TOKEN}@{HOST}:{PORT}/discreet"
    f"?sslmode=require&options=-c%20discreet.epsilon%3D{EPSILON}"
)

ASK = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY sex"
NAMES = "SELECT COUNT(*), AVG(age) FROM people"
DIVISION = "SELECT SUM(age) / COUNT(*) AS whole FROM people"
PAGES = "SELECT age, COUNT(*) AS n FROM people GROUP BY age"
WRONG = "SELECT sex, COUNT(*) FORM people"
ROWS = "SELECT * FROM people"
BUDGET = "SHOW discreet.budget"
DAY, MOMENT = dt.date(1960, 1, 1), dt.datetime(1960, 1, 1)  # as clients send it


def check(name, ask):
    try:
        print(json.dumps({"check": name, "got": plain(ask())}), flush=True)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        print(json.dumps({"check": name, "error": said[:500]}), flush=True)


def totals(rows):
    """Return how many rows there are, and the sum of their last column."""
    return [len(rows), sum(row[-1] for row in rows)]


def plain(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, Decimal):
        return float(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, str | int | float | bool | None):
        return value
    return [plain(each) for each in value]


def from_binary(data):
    """Return the rows (text, int8) of a COPY in the binary format, read by its description."""
    assert data.startswith(b"PGCOPY\n\xff\r\n\0")
    at, rows = 19, []
    while (count := int.from_bytes(data[at : at + 2], signed=True)) >= 0:
        at += 2
        row = []
        for _ in range(count):
            size = int.from_bytes(data[at : at + 4])
            row.append(data[at + 4 : at + 4 + size])
            at += 4 + size
        rows.append([row[0].decode(), int.from_bytes(row[1], signed=True)])
    return rows
