"""IN (SELECT ...) and EXISTS over a person whose column is declared as a number."""

import pytest

from discreet import open as open_catalog

TOML = """
[engine]
url = "duckdb:"
[ledger]
url = "sqlite:ledger.db"
[datasets.clinic]
epsilon = 1000000
[datasets.clinic.tables.patients]
source = "patients.csv"
unit = "person"
max_rows = 1
[datasets.clinic.tables.patients.columns]
person = { type = "integer", lower = 0, upper = 1000 }
[datasets.clinic.tables.visits]
source = "visits.csv"
unit = "person"
max_rows = 3
[datasets.clinic.tables.visits.columns]
person = { type = "integer", lower = 0, upper = 1000 }
cost = { type = "integer", lower = 0, upper = 100 }
"""


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    place = tmp_path_factory.mktemp("clinic")
    (place / "discreet.toml").write_text(TOML)
    (place / "patients.csv").write_text("person\n" + "".join(f"{i}\n" for i in range(90)))
    visits = [f"{i},{cost}\n" for i in range(0, 90, 3) for cost in (5, 50)]
    (place / "visits.csv").write_text("person,cost\n" + "".join(visits))
    with open_catalog(place / "discreet.toml") as curator:
        yield curator


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("person IN (SELECT person FROM visits)", 30),
        ("person NOT IN (SELECT person FROM visits WHERE cost > 60)", 90),
        ("EXISTS (SELECT 1 FROM visits v WHERE v.person = p.person AND v.cost > 40)", 30),
        ("NOT EXISTS (SELECT 1 FROM visits v WHERE v.person = p.person)", 60),
    ],
)
def test_people_are_found_by_what_they_have_elsewhere(clinic, condition, count):
    # Noise of scale 1/1000: wrong by one with a chance below e^-1000.
    answer = clinic.query(f"SELECT COUNT(*) AS n FROM patients p WHERE {condition}", epsilon=1000)
    assert answer.rows == ((count,),)
