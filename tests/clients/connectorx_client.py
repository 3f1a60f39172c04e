"""connectorx: each of its protocols, into Arrow and into pandas (which asks for the number of rows)."""

import connectorx as cx
from said import ASK, PAGES, URL, check, totals


def rows(sql, protocol="binary", into="arrow"):
    found = cx.read_sql(URL, sql, protocol=protocol, return_type=into)
    return found.values if into == "pandas" else [list(row.values()) for row in found.to_pylist()]


check("ask", lambda: rows(ASK))
for protocol in ("binary", "csv", "cursor", "simple"):
    check(f"protocol {protocol}", lambda protocol=protocol: rows(ASK, protocol))
check("pandas", lambda: rows(ASK, into="pandas"))
check("pages", lambda: totals(rows(PAGES)))
check("preview", lambda: len(rows("SELECT * FROM preview.people")))
