"""ibis, which nests a subquery for every step."""

import ibis
from ibis import _
from said import ASK, DAY, EPSILON, HOST, PORT, TOKEN, USER, check

con = ibis.postgres.connect(
    host=HOST, port=PORT, user=USER, password=TOKEN, database="discreet", sslmode="require",
    options=f"-c discreet.epsilon={EPSILON}",
)  # fmt: skip
people = con.table("people")
patients = con.table("patients", database="clinic")
visits = con.table("visits", database="clinic")
by_sex = people.group_by("sex").agg(n=_.count())
by_age = people.group_by("age").agg(n=_.count())


def rows(query):
    return [[cell for cell in row] for row in query.execute().itertuples(index=False)]


def shares():
    found = by_sex.mutate(share=_.n / _.n.sum()).order_by("sex").select("sex", "share")
    return [[sex, round(share, 6)] for sex, share in rows(found)]


check("ask", lambda: sorted(rows(by_sex)))
check("columns", lambda: list(people.columns))
check("tables", lambda: sorted([*con.list_tables(), *con.list_tables(database="clinic")]))
check("date", lambda: people.filter(_.born > DAY).count().execute())
check("median", lambda: people.age.median().execute())
check("order", lambda: rows(by_sex.order_by(ibis.desc("n"), "sex")))
check("having", lambda: sorted(rows(people.group_by("age").having(_.count() > 7).agg(n=_.count()))))
check("top", lambda: rows(by_age.order_by(ibis.desc("n"), "age").limit(3)))
check("view", lambda: rows(con.sql(ASK)))
check("share", shares)
check("distinct", lambda: sorted(people.select("sex").distinct().execute()["sex"]))
check("join", lambda: sorted(
    rows(visits.join(patients, "person").group_by("city").agg(n=_.count()))
))  # fmt: skip
check("preview", lambda: len(con.table("people", database="preview").execute()))
