"""asyncpg, which prepares everything and sends binary values only."""

import asyncio
import io
import ssl

import asyncpg
from said import (
    ASK, BUDGET, DAY, DIVISION, EPSILON, HOST, MOMENT, NAMES, PAGES, PORT, ROWS, TOKEN, USER,
    WRONG, check, from_binary, totals,
)  # fmt: skip

COUNT = "SELECT COUNT(*) FROM people WHERE "
loop = asyncio.new_event_loop()
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
connection = loop.run_until_complete(
    asyncpg.connect(
        host=HOST, port=PORT, user=USER, password=TOKEN, database="discreet", ssl=context,
        server_settings={"discreet.epsilon": EPSILON},
    )
)  # fmt: skip


def rows(sql, *values):
    return [list(row.values()) for row in loop.run_until_complete(connection.fetch(sql, *values))]


def one(sql, *values):
    return rows(COUNT + sql, *values)[0][0]


def copied(**options):
    into = io.BytesIO()
    loop.run_until_complete(connection.copy_from_query(ASK, output=into, **options))
    return into.getvalue()


async def page():
    async with connection.transaction():
        return [[row["n"]] async for row in connection.cursor(PAGES, prefetch=50)]


def failed(sql, part):
    try:
        rows(sql)
    except asyncpg.PostgresError as error:
        return error.sqlstate if part == "code" else error.position


def names(sql):
    prepared = loop.run_until_complete(connection.prepare(sql))
    return [column.name for column in prepared.get_attributes()]


check("ask", lambda: rows(ASK))
check("names", lambda: names(NAMES))
text = "age > $1 AND sex = $2 AND married = $3 AND income < $4"
check("parameters", lambda: one(text, 30, "Male", True, 50000.5))
check("in", lambda: one("age IN($1,$2)", 20, 21))
check("array", lambda: one("age = ANY($1::int[])", [20, 21]))
check("date", lambda: one("born > $1", DAY))
check("timestamp", lambda: one("born > $1::timestamp", MOMENT))
check("boolean", lambda: one("married = $1", True))
check("null", lambda: one("sex = $1", None))
check("division", lambda: rows(DIVISION)[0][0])
check("columns", lambda: names("SELECT * FROM people LIMIT 0"))
check("tables", lambda: sorted(name for (name,) in rows(
    "SELECT table_name FROM information_schema.tables WHERE table_schema <> $1", "preview"
)))  # fmt: skip
check("preview", lambda: len(rows("SELECT * FROM preview.people")))
check("copy text", lambda: copied(format="text"))
check("copy csv", lambda: copied(format="csv", header=True))
check("copy binary", lambda: from_binary(copied(format="binary")))
check("pages", lambda: totals(loop.run_until_complete(page())))
check("position", lambda: failed(WRONG, "place"))
check("refused", lambda: failed(ROWS, "code"))
check("budget", lambda: sorted(row[0] for row in rows(BUDGET)))
loop.run_until_complete(connection.close())
