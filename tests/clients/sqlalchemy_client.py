"""SQLAlchemy with psycopg 2: reflection, expressions, and pandas on top."""

import pandas as pd
import sqlalchemy as sa
from said import DAY, MOMENT, URL, check

engine = sa.create_engine(URL.replace("postgresql:", "postgresql+psycopg2:"))
inspector = sa.inspect(engine)
known = sa.MetaData()
known.reflect(engine, schema="census")
known.reflect(engine, schema="clinic")
people = sa.Table("people", sa.MetaData(), autoload_with=engine)
patients, visits = known.tables["clinic.patients"], known.tables["clinic.visits"]


def rows(query):
    with engine.connect() as connection:
        return [list(row) for row in connection.execute(query)]


def one(*conditions):
    return rows(sa.select(sa.func.count()).select_from(people).where(*conditions))[0][0]


count = sa.func.count().label("n")
by_sex = sa.select(people.c.sex, count).group_by(people.c.sex).order_by(people.c.sex)
check("ask", lambda: pd.read_sql(by_sex, engine).values)
check("parameters", lambda: one(
    people.c.age > 30, people.c.sex == "Male", people.c.married, people.c.income < 50000.5
))  # fmt: skip
check("in", lambda: one(people.c.age.in_([20, 21])))
check("date", lambda: one(people.c.born > DAY))
check("timestamp", lambda: one(people.c.born > MOMENT))
check("range", lambda: one(people.c.born >= DAY, people.c.born < DAY.replace(year=1970)))
check("boolean", lambda: one(people.c.married.is_(True)))
whole = sa.select(sa.func.sum(people.c.age) // sa.func.count())
check("division", lambda: rows(whole)[0][0])
check("columns", lambda: [column["name"] for column in inspector.get_columns("people")])
check("tables", lambda: sorted(table.name for table in known.tables.values()))
check("preview", lambda: len(pd.read_sql_table("people", engine, schema="preview")))
joined = visits.join(patients, visits.c.person == patients.c.person)
city = patients.c.city
check("join", lambda: rows(
    sa.select(city, sa.func.count()).select_from(joined).group_by(city).order_by(city)
))  # fmt: skip
year = sa.extract("year", people.c.born).label("y")
years = sa.select(year, count).where(people.c.born >= DAY).group_by(year).order_by(year)
check("years", lambda: [row for row in rows(years) if row[0] in (1960, 1961)])
