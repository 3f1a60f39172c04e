"""psycopg 3: prepared statements, text and binary parameters, pipelines and COPY."""

import psycopg
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

connection = psycopg.connect(URL, autocommit=True, prepare_threshold=1)
COUNT = "SELECT COUNT(*) FROM people WHERE "


def rows(sql, values=None, **how):
    return connection.execute(sql, values, **how).fetchall()


def one(sql, *values):
    """Ask with text and with binary values, and in a pipeline: all must agree."""
    text, binary = COUNT + sql.replace("%s", "%t"), COUNT + sql.replace("%s", "%b")
    found = {rows(text, values)[0][0], rows(binary, values, binary=True)[0][0]}
    with connection.pipeline():
        found.add(connection.execute(COUNT + sql, values).fetchone()[0])
    [only] = found
    return only


def copied(options):
    with connection.cursor().copy(f"COPY ({ASK}) TO STDOUT {options}") as pieces:
        return b"".join(map(bytes, pieces))


def pages():
    with psycopg.connect(URL) as other, other.cursor(name="pages") as pages:
        pages.itersize = 50
        found = list(pages.execute(PAGES))
    return [len(found), sum(n for _, n in found)]


def failed(sql, part):
    try:
        rows(sql)
    except psycopg.Error as error:
        return error.sqlstate if part == "code" else error.diag.statement_position


def names(sql):
    return [column.name for column in connection.execute(sql).description]


check("ask", lambda: rows(ASK))
check("names", lambda: names(NAMES))
text = "age > %s AND sex = %s AND married = %s AND income < %s"
check("parameters", lambda: one(text, 30, "Male", True, 50000.5))
check("in", lambda: one("age IN(%s,%s)", 20, 21))
check("array", lambda: one("age = ANY(%s)", [20, 21]))
check("date", lambda: one("born > %s", DAY))
check("timestamp", lambda: one("born > %s", MOMENT))
check("boolean", lambda: one("married = %s", True))
check("null", lambda: rows(COUNT + "sex = %s", [None])[0][0])
check("division", lambda: rows(DIVISION)[0][0])
check("columns", lambda: names("SELECT * FROM people LIMIT 0"))
check("tables", lambda: sorted(name for (name,) in rows(
    "SELECT table_name FROM information_schema.tables WHERE table_schema <> 'preview'"
)))  # fmt: skip
check("preview", lambda: len(rows("SELECT * FROM preview.people")))
check("copy text", lambda: copied(""))
check("copy csv", lambda: copied("(FORMAT csv, HEADER true)"))
check("copy binary", lambda: from_binary(copied("(FORMAT binary)")))
check("pages", pages)
check("position", lambda: failed(WRONG, "place"))
check("refused", lambda: failed(ROWS, "code"))
check("budget", lambda: sorted(row[0] for row in rows(BUDGET)))
