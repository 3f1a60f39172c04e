"""Superset: its own SQL for charts, filters, time ranges and virtual data sets, run by itself."""

import datetime as dt
import logging

from said import URL, check

logging.disable(logging.CRITICAL)
from superset.app import create_app  # before anything else of it

app = create_app()
app.app_context().push()

from superset.connectors.sqla.models import SqlaTable, SqlMetric, TableColumn
from superset.models.core import Database
from superset.sql.parse import Table

uri = URL.replace("postgresql:", "postgresql+psycopg2:")
database = Database(database_name="discreet", sqlalchemy_uri=uri)
database.set_sqlalchemy_uri(uri)
KINDS = {"age": "INTEGER", "sex": "TEXT", "income": "DOUBLE PRECISION", "born": "DATE",
         "married": "BOOLEAN", "city": "TEXT", "n": "BIGINT"}  # fmt: skip


def dataset(name, schema="census", **more):
    found = SqlaTable(table_name=name, schema=schema, database=database, **more)
    found.columns = [
        TableColumn(column_name=column, type=kind, is_dttm=kind == "DATE")
        for column, kind in KINDS.items()
    ]
    found.metrics = [SqlMetric(metric_name="count", expression="COUNT(*)")]
    return found


def chart(of=None, **more):
    """Return the rows of a chart: the SQL is Superset's, and so is running it."""
    asked = {
        "granularity": None, "from_dttm": None, "to_dttm": None, "columns": [],
        "metrics": ["count"], "is_timeseries": False, "filter": [], "extras": {}, "orderby": [],
        "row_limit": 1000, "order_desc": True, "series_columns": [], "series_limit": 0,
        "series_limit_metric": None, "inner_from_dttm": None, "inner_to_dttm": None,
    }  # fmt: skip
    sql = (of or dataset("people")).get_query_str_extended(asked | more).sql
    return database.get_df(sql).values.tolist()


def over(first, last, grain):
    when = {"granularity": "born", "from_dttm": first, "to_dttm": last}
    rows = chart(is_timeseries=True, extras={"time_grain_sqla": grain}, **when)
    return sorted(
        (str(day)[:10], n) for day, n in rows if str(first)[:10] <= str(day)[:10] < str(last)[:10]
    )


first, last = dt.datetime(1960, 1, 1), dt.datetime(1962, 1, 1)  # as Superset does
sql = "SELECT age, sex FROM people WHERE age > 17"
counted = "SELECT sex, age, COUNT(*) AS n FROM people GROUP BY sex, age"
joined = "SELECT p.city AS city FROM visits v JOIN patients p ON v.person = p.person"
most = {
    "expressionType": "SIMPLE",
    "column": {"column_name": "n"},
    "aggregate": "MAX",
    "label": "m",
}
check("ask", lambda: sorted(chart(columns=["sex"], orderby=[("count", False)])))
check("in", lambda: chart(filter=[{"col": "age", "op": "IN", "val": [20, 21]}])[0][0])
check("like", lambda: chart(filter=[{"col": "sex", "op": "ILIKE", "val": "fem%"}])[0][0])
check("boolean", lambda: chart(filter=[{"col": "married", "op": "IS TRUE", "val": None}])[0][0])
ten = {"col": "born", "op": "TEMPORAL_RANGE", "val": "1960-01-01 : 1970-01-01"}
check("range", lambda: chart(filter=[ten])[0][0])
check("years", lambda: [[int(day[:4]), n] for day, n in over(first, last, "P1Y")])
check("months", lambda: len(over(first, last, "P1M")))
check("having", lambda: sorted(chart(columns=["age"], extras={"having": "COUNT(*) > 7"})))
check("virtual", lambda: sorted(chart(dataset("grown", sql=sql), columns=["sex"])))
check("virtual counts", lambda: sorted(
    chart(dataset("counted", sql=counted), columns=["sex"], metrics=[most])
))  # fmt: skip
check("join", lambda: sorted(chart(dataset("joined", "clinic", sql=joined), columns=["city"])))
check("distinct", lambda: sorted(database.get_df("SELECT DISTINCT sex FROM people")["sex"]))
check(
    "columns", lambda: [c["column_name"] for c in database.get_columns(Table("people", "census"))]
)
check("tables", lambda: sorted(
    table[0]
    for schema in ("census", "clinic")
    for table in database.get_all_table_names_in_schema(None, schema)
))  # fmt: skip
