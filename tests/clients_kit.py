"""Real PostgreSQL clients, each a small program under tests/clients/ in its own language.

Every program asks the same questions over the same town and prints one JSON object a line:
{"check": "ask", "got": [["Female", 200], ["Male", 200]]}, or {"check": ..., "error": "..."}. What it
should have got stands here, computed from the rows: at so large an epsilon noise is 0.
"""

from __future__ import annotations

import datetime as dt
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pgwire_kit
from patience import LONG

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests" / "clients"
HOME = Path(os.environ.get("DISCREET_CLIENTS", ROOT / ".venv" / "clients"))
"""Where scripts/clients puts what it installs: apart from everything else."""
EPSILON = "3000"
"""Of a person nine visits count, so a count of visits has noise with a chance below e^-300."""

TOML = """
[engine]
url = "duckdb:"
[ledger]
url = "sqlite:ledger.db"

[datasets.census]
epsilon = 1000000
[datasets.census.tables.people]
source = "people.csv"
unit = "row"
[datasets.census.tables.people.columns]
age = { type = "integer", lower = 0, upper = 120 }
sex = { type = "category", values = ["Female", "Male"] }
income = { type = "number", lower = 0, upper = 500000, step = 0.5 }
born = { type = "date", lower = 1930-01-01, upper = 2020-12-31 }
married = { type = "boolean" }
note = { type = "text", hidden = true }

[datasets.clinic]
epsilon = 1000000
[datasets.clinic.tables.patients]
source = "patients.csv"
unit = "person"
max_rows = 1
[datasets.clinic.tables.patients.columns]
person = { type = "integer", lower = 0, upper = 100000 }
city = { type = "category", values = ["Bonn", "Jena", "Ulm"] }
[datasets.clinic.tables.visits]
source = "visits.csv"
unit = "person"
max_rows = 9
[datasets.clinic.tables.visits.columns]
person = { type = "integer", lower = 0, upper = 100000 }
day = { type = "date", lower = 2024-01-01, upper = 2024-12-31 }
cost = { type = "number", lower = 0, upper = 1000, step = 0.5 }

[analysts.alice]
datasets = { census = { epsilon = 1000000 }, clinic = { epsilon = 1000000 } }
[analysts.bob]
datasets = { census = { epsilon = 1 } }
"""


@dataclass(frozen=True)
class Person:
    """One row of people.csv."""

    age: int
    sex: str
    income: float
    born: dt.date
    married: bool


def people_in(folder: Path) -> list[Person]:
    lines = (folder / "people.csv").read_text().splitlines()[1:]
    cells = [line.split(",") for line in lines]
    return [
        Person(int(age), sex, float(income), dt.date.fromisoformat(born), married == "true")
        for age, sex, income, born, married, _ in cells
    ]


def write_clinic(folder: Path) -> list[tuple[int, str, int]]:
    """Write patients and their visits; return person, city and number of visits."""
    dice = random.Random(5)
    found = [
        (person, dice.choice(["Bonn", "Jena", "Ulm"]), dice.randint(0, 4)) for person in range(90)
    ]
    rows = [f"{person},{city}" for person, city, _ in found]
    (folder / "patients.csv").write_text("\n".join(["person,city", *rows]) + "\n")
    visits = [
        f"{person},2024-0{1 + n}-1{person % 10},{10 * n}.5"
        for person, _, count in found
        for n in range(count)
    ]
    (folder / "visits.csv").write_text("\n".join(["person,day,cost", *visits]) + "\n")
    return found


def expected(folder: Path) -> dict[str, object]:
    """Return what each check should have got."""
    people = people_in(folder)
    ages = sorted({person.age for person in people})
    by_sex = [[sex, sum(p.sex == sex for p in people)] for sex in ("Female", "Male")]
    by_age = {age: sum(p.age == age for p in people) for age in range(121)}
    top = sorted(by_age.items(), key=lambda pair: (-pair[1], pair[0]))[:3]
    after = dt.date(1960, 1, 1)
    wanted = [p for p in people if p.age > 30 and p.sex == "Male" and p.married]
    clinic = clinic_in(folder)
    cities = ("Bonn", "Jena", "Ulm")
    return {
        "ask": by_sex,
        "names": ["count", "avg"],
        "parameters": sum(p.income < 50000.5 for p in wanted),
        "in": sum(p.age in (20, 21) for p in people),
        "array": sum(p.age in (20, 21) for p in people),
        "date": sum(p.born > after for p in people),
        "timestamp": sum(p.born > after for p in people),
        "range": sum(after <= p.born < dt.date(1970, 1, 1) for p in people),
        "boolean": sum(p.married for p in people),
        "null": 0,
        "division": sum(p.age for p in people) // len(people),
        "copy text": "".join(f"{sex}\t{n}\n" for sex, n in by_sex),
        "copy csv": "sex,n\n" + "".join(f"{sex},{n}\n" for sex, n in by_sex),
        "copy binary": by_sex,
        "pages": [121, len(people)],
        "tables": ["patients", "people", "visits"],
        "columns": ["age", "sex", "income", "born", "married"],
        "preview": 100,
        **dict.fromkeys(("protocol binary", "protocol csv", "protocol cursor"), by_sex),
        **dict.fromkeys(("protocol simple", "pandas", "adbc"), by_sex),
        "view": by_sex,
        "position": "27",
        "refused": "0A000",
        "budget": ["census", "clinic"],
        "median": sorted(p.age for p in people)[(len(people) - 1) // 2],
        "having": [[age, n] for age, n in by_age.items() if n > 7],
        "top": [list(pair) for pair in top],
        "order": sorted(by_sex, key=lambda pair: (-pair[1], pair[0])),
        "share": [[sex, round(n / len(people), 6)] for sex, n in by_sex],
        "distinct": ["Female", "Male"],
        "join": [[city, sum(n for _, where, n in clinic if where == city)] for city in cities],
        "semi": sum(n > 0 for _, _, n in clinic),
        "anti": sum(n == 0 for _, _, n in clinic),
        "per person": round(sum(n for *_, n in clinic) / sum(n > 0 for *_, n in clinic), 6),
        "years": [[y, sum(p.born.year == y for p in people)] for y in (1960, 1961)],
        "months": 24,
        "virtual": [[sex, sum(p.sex == sex and p.age > 17 for p in people)] for sex, _ in by_sex],
        "virtual counts": [
            [sex, max(sum(p.sex == sex and p.age == age for p in people) for age in ages)]
            for sex, _ in by_sex
        ],
        "like": by_sex[0][1],
    }


def clinic_in(folder: Path) -> list[tuple[int, str, int]]:
    visits = [int(line.split(",")[0]) for line in _lines(folder / "visits.csv")]
    cells = [line.split(",") for line in _lines(folder / "patients.csv")]
    return [(int(person), city, visits.count(int(person))) for person, city in cells]


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()[1:]


@contextmanager
def town(folder: Path):
    """Lend a running endpoint over the town that all clients ask."""
    toml = pgwire_kit.write_town(folder)
    write_clinic(folder)
    toml.write_text(TOML)
    found = pgwire_kit.Endpoint(toml)
    try:
        yield found
    finally:
        found.close()


@dataclass(frozen=True)
class Client:
    """A client: its program, how it is started (None: it is not installed), and what it checks."""

    name: str
    program: str
    command: Callable[[], list[str] | None]
    checks: str
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, port: int, token: str) -> dict[str, dict[str, object]]:
        """Return what the program said, by check."""
        command = self.command()
        assert command is not None, "asked before"
        environment = {
            "PATH": os.environ["PATH"], "PGHOST": "127.0.0.1", "PGPORT": str(port),
            "PGUSER": "alice", "PGPASSWORD": token, "PGDATABASE": "discreet",
            "PGSSLMODE": "require", "PGOPTIONS": f"-c discreet.epsilon={EPSILON}",
            "DISCREET_EPSILON": EPSILON, "HOME": str(HOME), "OPENBLAS_NUM_THREADS": "1",
            **self.environment,
        }  # fmt: skip
        done = subprocess.run(
            [*command, str(PROGRAMS / self.program)],
            env=environment, capture_output=True, text=True, timeout=4 * LONG, check=False,
        )  # fmt: skip
        said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"check')]
        assert said, f"{self.name} said nothing: {done.stderr[-2000:]}"
        return {each["check"]: each for each in said}


def _python(*modules: str) -> Callable[[], list[str] | None]:
    """Return how to run a Python client: beside the tests, or in the environment of its own."""

    def command() -> list[str] | None:
        if all(importlib.util.find_spec(name) for name in modules):
            return [sys.executable, "-W", "ignore"]
        own = HOME / "python" / "bin" / "python"
        return [str(own), "-W", "ignore"] if own.exists() else None

    return command


def _own(folder: str, *words: str) -> Callable[[], list[str] | None]:
    """Return how to run something that only scripts/clients installs."""

    def command() -> list[str] | None:
        program = shutil.which(words[0].format(home=HOME))
        there = (HOME / folder).exists() and program is not None
        return [word.format(home=HOME) for word in words] if there else None

    return command


_ASKS = "ask names parameters in array date timestamp boolean null division columns tables preview"
_MORE = f"{_ASKS} copy_text copy_csv copy_binary position refused budget"
_LIBRARIES = ":".join(
    f"{HOME}/root/usr/lib/{machine}-linux-gnu{part}"
    for machine in ("x86_64", "aarch64")
    for part in ("", "/blas", "/lapack")
)
_R_HOME = f"{HOME}/root/usr/lib/R"

CLIENTS = (
    Client("psql", "psql.py", lambda: [sys.executable] if shutil.which("psql") else None,
           "ask names date division columns tables copy_text copy_csv copy_binary position refused "
           "budget view"),
    Client("psycopg 2", "psycopg2_client.py", _python("psycopg2"), f"{_MORE} pages"),
    Client("psycopg 3", "psycopg3_client.py", _python("psycopg"), f"{_MORE} pages"),
    Client("asyncpg", "asyncpg_client.py", _python("asyncpg"), f"{_MORE} pages"),
    Client("pg8000", "pg8000_client.py", _python("pg8000"),
           f"{_ASKS} copy_text copy_csv copy_binary position refused budget"),
    Client("SQLAlchemy", "sqlalchemy_client.py", _python("sqlalchemy", "psycopg2", "pandas"),
           "ask parameters in date timestamp range boolean division columns tables preview join "
           "years"),
    Client("ibis", "ibis_client.py", _python("ibis", "psycopg", "pandas", "packaging"),
           "ask columns tables date median order having top view share distinct join preview"),
    Client("connectorx", "connectorx_client.py", _python("connectorx", "pandas", "polars"),
           "ask protocol_binary protocol_csv protocol_cursor protocol_simple pandas pages preview"),
    Client("ADBC", "adbc_client.py", _python("adbc_driver_postgresql", "pyarrow"),
           "ask parameters date timestamp boolean columns tables preview pages refused"),
    Client("polars", "polars_client.py", _python("polars", "connectorx", "adbc_driver_postgresql"),
           "ask adbc pages preview"),
)  # fmt: skip
"""Clients that are Python packages, and psql: they run in `make test`."""

OTHERS = (
    Client("node-postgres", "node_postgres.js", _own("node/node_modules/pg", "node"),
           f"{_ASKS} copy_text copy_csv pages position refused budget",
           {"NODE_PATH": f"{HOME}/node/node_modules"}),
    Client("postgres.js", "postgres_js.js", _own("node/node_modules/postgres", "node"),
           f"{_ASKS} copy_text copy_csv pages position refused budget",
           {"NODE_PATH": f"{HOME}/node/node_modules"}),
    Client("pgjdbc", "Jdbc.java",
           _own("root/usr/share/java", "java", "-Xmx256m", "-cp",
                "{home}/root/usr/share/java/postgresql.jar"),
           f"{_ASKS} range copy_text copy_csv pages position refused budget"),
    Client("psqlODBC", "odbc_client.py",
           _own("root/usr/share/psqlodbc", "{home}/python/bin/python", "-W", "ignore"),
           "ask parameters in date timestamp range boolean null division columns tables preview pages "
           "refused budget",
           {"LD_LIBRARY_PATH": _LIBRARIES, "DISCREET_ODBC": f"{HOME}/root/usr/lib"}),
    Client("R with dbplyr", "dbplyr.R",
           _own("root/usr/lib/R/site-library", "{home}/root/usr/lib/R/bin/exec/R", "--no-echo",
                "--no-restore", "--vanilla", "-f"),
           "ask in date columns tables median having top share distinct join semi anti per_person "
           "preview",
           {"R_HOME": _R_HOME, "LD_LIBRARY_PATH": f"{_R_HOME}/lib:{_LIBRARIES}", "EDITOR": "vi",
            "R_LIBS_SITE": f"{_R_HOME}/site-library:{_R_HOME}/library"}),
    Client("Superset", "superset_charts.py",
           _own("superset", "{home}/superset/bin/python", "-W", "ignore"),
           "ask in like boolean range years months having virtual virtual_counts join distinct columns "
           "tables",
           {"SUPERSET_CONFIG_PATH": str(PROGRAMS / "superset_config.py")}),
)  # fmt: skip
"""Clients of other languages, and Superset: `make test-clients` installs them and runs them."""


def checks_of(client: Client) -> list[str]:
    return [name.replace("_", " ") for name in client.checks.split()]
