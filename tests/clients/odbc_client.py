"""psqlODBC through pyodbc: prepared by the server, pasted by the driver, and with cursors."""

import os
from pathlib import Path

import pyodbc
from said import (
    ASK, BUDGET, DAY, DIVISION, EPSILON, HOST, MOMENT, PAGES, PORT, ROWS, TOKEN, USER, check, totals,
)  # fmt: skip

[driver] = Path(os.environ["DISCREET_ODBC"]).glob("*/odbc/psqlodbcw.so")
COMMON = (
    f"DRIVER={driver};SERVER={HOST};PORT={PORT};UID={USER};PWD={TOKEN};DATABASE=discreet;"
    f"SSLmode=require;ConnSettings=SET discreet.epsilon%3D{EPSILON}"
)
WAYS = ("", ";UseServerSidePrepare=0", ";UseDeclareFetch=1;Fetch=50")
cursors = [pyodbc.connect(COMMON + way, autocommit=True).cursor() for way in WAYS]


def same(ask):
    """Ask in each of the driver's ways: all must agree."""
    found = [ask(cursor) for cursor in cursors]
    assert all(each == found[0] for each in found), found
    return found[0]


def rows(sql, *values):
    return same(lambda cursor: [list(row) for row in cursor.execute(sql, *values).fetchall()])


def one(sql, *values):
    return rows(f"SELECT COUNT(*) FROM people WHERE {sql}", *values)[0][0]


def refused(cursor):
    try:
        cursor.execute(ROWS)
    except pyodbc.Error as error:
        return error.args[0]


check("ask", lambda: rows(ASK))
text = "age > ? AND sex = ? AND married = ? AND income < ?"
check("parameters", lambda: one(text, 30, "Male", True, 50000.5))
check("in", lambda: one("age IN(?,?)", 20, 21))
check("date", lambda: one("born > ?", DAY))
check("timestamp", lambda: one("born > ?", MOMENT))
check("range", lambda: one("born >= {d '1960-01-01'} AND born < {ts '1970-01-01 00:00:00'}"))
check("boolean", lambda: one("married = ?", True))
check("null", lambda: one("sex = ?", None))
check("division", lambda: rows(DIVISION)[0][0])
columns = lambda cursor: [
    row.column_name for row in cursor.columns(table="people", schema="census")
]
check("columns", lambda: same(columns))
tables = lambda cursor: sorted(t.table_name for t in cursor.tables() if t.table_schem != "preview")
check("tables", lambda: same(tables))
check("preview", lambda: len(rows("SELECT * FROM preview.people")))
check("pages", lambda: totals(rows(PAGES)))
check("refused", lambda: same(refused))
check("budget", lambda: sorted(row[0] for row in rows(BUDGET)))
