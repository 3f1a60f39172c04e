"""ADBC, which fetches everything by COPY in the binary format and binds Arrow values."""

import adbc_driver_postgresql.dbapi as adbc
from said import ASK, DAY, MOMENT, PAGES, ROWS, URL, check, totals

connection = adbc.connect(URL, autocommit=True)
COUNT = "SELECT COUNT(*) AS n FROM people WHERE "


def rows(sql, values=None):
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [list(row.values()) for row in cursor.fetch_arrow_table().to_pylist()]


def one(sql, *values):
    return rows(COUNT + sql, values)[0][0]


def tables():
    found = connection.adbc_get_objects(depth="tables").read_all().to_pylist()
    schemas = [schema for catalog in found for schema in catalog["catalog_db_schemas"]]
    return sorted(
        table["table_name"]
        for schema in schemas
        if schema["db_schema_name"] != "preview"
        for table in schema["db_schema_tables"]
    )


def refused():
    try:
        rows(ROWS)
    except adbc.Error as error:
        return error.sqlstate


check("ask", lambda: rows(ASK))
text = "age > $1 AND sex = $2 AND married = $3 AND income < $4"
check("parameters", lambda: one(text, 30, "Male", True, 50000.5))
check("date", lambda: one("born > $1", DAY))
check("timestamp", lambda: one("born > $1", MOMENT))
check("boolean", lambda: one("married = $1", True))
check("columns", lambda: connection.adbc_get_table_schema("people").names)
check("tables", tables)
check("preview", lambda: len(rows("SELECT * FROM preview.people")))
check("pages", lambda: totals(rows(PAGES)))
check("refused", refused)
connection.close()
