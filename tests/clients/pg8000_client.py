"""pg8000, which is all Python and declares no types."""

import io
import ssl

import pg8000.native
from said import (
    ASK,
    BUDGET,
    DAY,
    DIVISION,
    EPSILON,
    HOST,
    MOMENT,
    NAMES,
    PORT,
    ROWS,
    TOKEN,
    USER,
    WRONG,
    check,
    from_binary,
)  # fmt: skip

COUNT = "SELECT COUNT(*) FROM people WHERE "
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
connection = pg8000.native.Connection(
    USER, host=HOST, port=PORT, password=TOKEN, database="discreet", ssl_context=context
)
connection.run(f"SET discreet.epsilon = {EPSILON}")
rows = connection.run


def one(sql, **values):
    return rows(COUNT + sql, **values)[0][0]


def copied(options):
    into = io.BytesIO()
    rows(f"COPY ({ASK}) TO STDOUT {options}", stream=into)
    return into.getvalue()


def failed(sql, part):
    try:
        rows(sql)
    except pg8000.native.DatabaseError as error:
        return error.args[0][part]


def names(sql):
    rows(sql)
    return [column["name"] for column in connection.columns]


check("ask", lambda: rows(ASK))
check("names", lambda: names(NAMES))
text = "age > :a AND sex = :s AND married = :m AND income < :i"
check("parameters", lambda: one(text, a=30, s="Male", m=True, i=50000.5))
check("in", lambda: one("age IN(:a,:b)", a=20, b=21))
check("array", lambda: one("age = ANY(:a)", a=[20, 21]))
check("date", lambda: one("born > :d", d=DAY))
check("timestamp", lambda: one("born > :d", d=MOMENT))
check("boolean", lambda: one("married = :m", m=True))
check("null", lambda: one("sex = :s", s=None))
check("division", lambda: rows(DIVISION)[0][0])
check("columns", lambda: names("SELECT * FROM people LIMIT 0"))
check("tables", lambda: sorted(name for (name,) in rows(
    "SELECT table_name FROM information_schema.tables WHERE table_schema <> :s", s="preview"
)))  # fmt: skip
check("preview", lambda: len(rows("SELECT * FROM preview.people")))
check("copy text", lambda: copied(""))
check("copy csv", lambda: copied("WITH (FORMAT CSV, HEADER)"))
check("copy binary", lambda: from_binary(copied("WITH (FORMAT BINARY)")))
check("position", lambda: failed(WRONG, "P"))
check("refused", lambda: failed(ROWS, "C"))
check("budget", lambda: sorted(row[0] for row in rows(BUDGET)))
