"""Arbitrary text to the parser, the binder and the planner: a plan, or a sentence. Nothing else."""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz_kit import Findings, fuzz, instrumented, options

with instrumented("discreet.ask.sql", "discreet.ask.plan"):
    from discreet.ask.plan.plan import ask, make_plan
    from discreet.ask.sql.bind import bind
    from discreet.base.numbers import Delta, Epsilon

from curator_kit import catalog_of
from discreet.data.catalog.policy_file import loads
from discreet.errors import DiscreetError, InternalError
from discreet.lab.town.town_files import TABLES, policy_text
from queries import Mutator, Questions

CATALOGS = tuple(
    (
        catalog,
        {table.name: "1" for dataset in catalog.datasets.values() for table in dataset.tables},
    )
    for catalog in (loads(policy_text(1000, TABLES), base=Path()), catalog_of(Path()))
)
"""The town, and the attackers' world, which has every kind of column. The first byte chooses."""

TOWN = (
    "SELECT region, COUNT(*) AS n FROM people WHERE age >= 65 GROUP BY region ORDER BY n DESC",
    "SELECT sex, AVG(income) FROM people GROUP BY 1 HAVING COUNT(*) > 10 LIMIT 3 OFFSET 1",
    "SELECT MEDIAN(age), STDDEV(income) FROM people WHERE job IN ('nurse') OR region IS NULL",
    (
        "SELECT v.diagnosis, COUNT(DISTINCT v.person_id) FROM visits v JOIN people p "
        "ON v.person_id = p.person_id WHERE p.age BETWEEN 20 AND 40 GROUP BY v.diagnosis"
    ),
    "WITH old AS (SELECT person_id, age FROM people WHERE age > 60) SELECT COUNT(*) FROM old",
    "SELECT r.region, SUM(p.income) FROM people p JOIN regions r USING (region) GROUP BY r.region",
    "SELECT CASE WHEN rating > 3 THEN 'high' ELSE 'low' END AS h, COUNT(*) FROM ratings GROUP BY h",
    "SELECT SUM(n) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) AS s",
    "SELECT EXTRACT(YEAR FROM day) AS y, COUNT(*) FROM visits GROUP BY y",
    "SELECT ROUND(100.0 * SUM(CASE WHEN age < 18 THEN 1 ELSE 0 END) / COUNT(*), 1) FROM people",
    "SELECT dose, COUNT(*) FROM dosing WHERE race = 'White' AND NOT (dose > 5) GROUP BY dose",
    "SELECT COALESCE(NULLIF(sex, 'Male'), 'x') || LOWER(region), COUNT(*) FROM people GROUP BY 1",
)


def statement(data: bytes) -> str:
    """Return the text of an input, whose first byte chose the catalog."""
    return data[1:].decode("utf-8", "surrogateescape")


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Return the input with a word swapped, dropped, repeated, spliced or of another type."""
    mutator = Mutator(rng)
    text = statement(data) or "SELECT"
    changed = mutator.typed(text) if rng.random() < 0.5 else mutator.broken(text)
    return data[:1] + changed.encode("utf-8", "surrogateescape")


def broken(sql: str) -> None:
    """Fail as a rule would that knows all clauses but one."""
    if "HAVING" in sql:
        raise LookupError("planted")


def main() -> None:
    wanted = options()
    findings = Findings(go_on=wanted.all)

    def one(data: bytes) -> None:
        sql, (catalog, snapshots) = statement(data), CATALOGS[data[0] % 2 if data else 0]
        try:
            if wanted.twin:
                broken(sql)
            question = ask(bind(sql, catalog), catalog, snapshots)
            delta = Delta(catalog.budget_of(question.dataset).delta.value)
            make_plan(question, epsilon=Epsilon.of("1"), budget_delta=delta)
        except InternalError as error:
            findings.tell(error, sql)
        except DiscreetError:
            return
        except Exception as error:  # whatever it is, it is a finding
            findings.tell(error, sql)

    rng = random.Random(wanted.seed)
    corpus = [b"\0" + text.encode() for text in TOWN]
    corpus += [b"\1" + Questions(rng).question().encode() for _ in range(150)]
    fuzz(wanted, one, mutate, corpus)


if __name__ == "__main__":
    main()
