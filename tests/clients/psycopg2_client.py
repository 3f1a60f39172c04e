"""psycopg 2, which pastes values into the text."""

import io

import psycopg2
from said import (
    ASK,
    BUDGET,
    DAY,
    DIVISION,
    MOMENT,
    NAMES,
    PAGES,
    ROWS,
    URL,
    WRONG,
    check,
    from_binary,
)  # fmt: skip

connection = psycopg2.connect(URL)
connection.autocommit = True
cursor = connection.cursor()
COUNT = "SELECT COUNT(*) FROM people WHERE "


def rows(sql, *values):
    cursor.execute(sql, *values)
    return cursor.fetchall()


def one(sql, *values):
    return rows(COUNT + sql, values)[0][0]


def copied(options):
    into = io.BytesIO()
    cursor.copy_expert(f"COPY ({ASK}) TO STDOUT {options}", into)
    return into.getvalue()


def pages():
    with psycopg2.connect(URL) as other, other.cursor(name="pages") as pages:
        pages.itersize = 50
        pages.execute(PAGES)
        found = list(pages)
    return [len(found), sum(n for _, n in found)]


def failed(sql, part):
    try:
        rows(sql)
    except psycopg2.Error as error:
        return error.pgcode if part == "code" else error.diag.statement_position


def names(sql):
    cursor.execute(sql)
    return [column.name for column in cursor.description]


check("ask", lambda: rows(ASK))
check("names", lambda: names(NAMES))
text = "age > %s AND sex = %s AND married = %s AND income < %s"
check("parameters", lambda: one(text, 30, "Male", True, 50000.5))
check("in", lambda: one("age IN %s", (20, 21)))
check("array", lambda: one("age = ANY(%s)", [20, 21]))
check("date", lambda: one("born > %s", DAY))
check("timestamp", lambda: one("born > %s", MOMENT))
check("boolean", lambda: one("married = %s", True))
check("null", lambda: one("sex = %s", None))
check("division", lambda: rows(DIVISION)[0][0])
check("columns", lambda: names("SELECT * FROM people LIMIT 0"))
check("tables", lambda: sorted(name for (name,) in rows(
    "SELECT table_name FROM information_schema.tables WHERE table_schema <> 'preview'"
)))  # fmt: skip
check("preview", lambda: len(rows("SELECT * FROM preview.people")))
check("copy text", lambda: copied(""))
check("copy csv", lambda: copied("WITH CSV HEADER"))
check("copy binary", lambda: from_binary(copied("WITH BINARY")))
check("pages", pages)
check("position", lambda: failed(WRONG, "place"))
check("refused", lambda: failed(ROWS, "code"))
check("budget", lambda: sorted(row[0] for row in rows(BUDGET)))
