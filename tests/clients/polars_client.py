"""polars, through both of its engines."""

import polars as pl
from said import ASK, PAGES, URL, check, totals


def rows(sql, engine="connectorx"):
    return pl.read_database_uri(sql, URL, engine=engine).rows()


check("ask", lambda: rows(ASK))
check("adbc", lambda: rows(ASK, engine="adbc"))
check("pages", lambda: totals(rows(PAGES)))
check("preview", lambda: len(rows("SELECT * FROM preview.people")))
