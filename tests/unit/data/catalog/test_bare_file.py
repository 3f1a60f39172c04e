"""A bare file gets a discreet.toml that says nothing of its rows, and keeps it."""

import datetime as dt
import stat

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.base.numbers import Delta, Epsilon
from discreet.base.schema import (
    BooleanDomain,
    DateDomain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
    TimestampDomain,
)
from discreet.data.catalog.bare_file import bare_table
from discreet.data.catalog.policy_file import load
from discreet.errors import DiscreetError, InvalidInput

ROWS = "id,age,wage,mixed,day,ok,job\n7,31,10.25,7,2024-02-29,true,baker\n8,,2.5,10.5,,false,\n"
BUDGET = {"epsilon": Epsilon.of("0.5"), "delta": Delta.of("1e-9")}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def test_types_are_told_and_nothing_else(file):
    found = bare_table(file, **BUDGET)
    assert found.created
    assert found.table == "people.people"
    catalog = load(found.config)
    kinds = {c.name: type(c.domain) for c in catalog.table("people").columns}
    assert kinds == {
        "id": IntegerDomain,
        "age": IntegerDomain,
        "wage": NumberDomain,
        "mixed": NumberDomain,  # whole numbers and decimals side by side
        "day": DateDomain,
        "ok": BooleanDomain,
        "job": TextDomain,
    }
    budget = catalog.budgets["people"]
    assert (str(budget.epsilon), str(budget.delta)) == ("0.5", "2e-9")
    written = found.config.read_text(encoding="utf-8")
    assert "baker" not in written
    assert "31" not in written.replace("12-31", "")
    assert stat.S_IMODE(found.config.stat().st_mode) == 0o600


def test_the_rows_make_no_difference(tmp_path):
    texts = []
    for i, rows in enumerate((ROWS, ROWS.replace("31", "99").replace("baker", "spy"))):
        folder = tmp_path / str(i)
        folder.mkdir()
        (folder / "people.csv").write_text(rows, encoding="utf-8")
        texts.append(bare_table(folder / "people.csv", **BUDGET).config.read_text())
    assert texts[0] == texts[1]


def test_it_is_used_again(file):
    first = bare_table(file, **BUDGET)
    before = first.config.read_text()
    again = bare_table(file, epsilon=Epsilon.of(9))
    assert (again.config, again.table, again.created) == (first.config, first.table, False)
    assert first.config.read_text() == before


def test_a_second_file_is_added_to_the_same_toml(file):
    bare_table(file, **BUDGET)
    other = file.with_name("people.parquet")
    moment = dt.datetime(2024, 1, 1, 12)
    pq.write_table(pa.table({"when": [moment], "blob": [b"x"]}), other)
    found = bare_table(other, **BUDGET)
    assert found.table == "people_2.people"
    catalog = load(found.config)
    assert set(catalog.datasets) == {"people", "people_2"}
    columns = {c.name: c for c in catalog.table("people", "people_2").columns}
    assert isinstance(columns["when"].domain, TimestampDomain)
    assert columns["blob"].hidden


def test_accept_declares_what_was_seen(file):
    file.write_text("age\n" + "\n".join(str(20 + i % 40) for i in range(200)), encoding="utf-8")
    found = bare_table(file, accept=True, **BUDGET)
    catalog = load(found.config)
    assert catalog.accepted
    domain = catalog.table("people").column("age").domain
    assert domain.upper < 100
    other = file.with_name("other.csv")
    other.write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="is there already"):
        bare_table(other, accept=True, **BUDGET)


def test_a_person_column(file):
    found = bare_table(file, unit="id", **BUDGET)
    table = load(found.config).table("people")
    assert table.unit.column == "id"
    assert table.max_rows == 1
    file.with_name("discreet.toml").unlink()
    with pytest.raises(InvalidInput, match="no column 'person'"):
        bare_table(file, unit="person", **BUDGET)


def test_a_budget_is_never_guessed(file):
    with pytest.raises(InvalidInput, match="no budget yet"):
        bare_table(file)


def test_an_unfinished_proposal_is_not_bypassed(file):
    proposal = '[datasets.people.tables.people]\nsource = "people.csv"\n'
    file.with_name("discreet.toml").write_text(proposal, encoding="utf-8")
    with pytest.raises(DiscreetError, match="is not ready"):
        bare_table(file, **BUDGET)


BAD = {
    "is empty": b"",
    "no rows": b"a,b\n",
    "holds NUL bytes": b"a,b\n1,\x00\n",
    "same name": b"a,A\n1,2\n",
}


@pytest.mark.parametrize("words", BAD)
def test_files_that_are_no_tables(words, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes(BAD[words])
    with pytest.raises(InvalidInput, match=words):
        bare_table(path, **BUDGET)
    assert not (tmp_path / "discreet.toml").exists()
