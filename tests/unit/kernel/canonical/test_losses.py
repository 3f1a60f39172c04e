"""What declarations leave out is counted exactly and shown with examples, to the owner."""

from __future__ import annotations

import pytest

from discreet.core.schema import (
    CategoryDomain,
    Column,
    IdentifierDomain,
    IntegerDomain,
    Table,
)
from discreet.core.spelling import Spelling
from discreet.core.unit import PrivacyUnit
from discreet.engine.connect import connect
from discreet.kernel.canonical.losses import table_losses

ROWS = "who,sex,age\n" + "".join(
    f"{'p' + str(i // 3) if i else ''},{('F', 'f ', 'M', 'x')[i % 4]},{'n/a' if i % 5 == 0 else i}\n"
    for i in range(40)
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("losses")
    (folder / "t.csv").write_text(ROWS, encoding="utf-8")
    found = connect("duckdb:", {"t": "t.csv"}, base=folder)
    yield found
    found.close()


def table(unit, sex=None, age=None):
    columns = (
        Column("who", IdentifierDomain()),
        Column("sex", CategoryDomain(("F", "M")), spelling=sex or Spelling()),
        Column("age", IntegerDomain(0, 30), spelling=age or Spelling()),
        Column("gone", IntegerDomain(0, 1), hidden=True),
    )
    return Table("t", "t.csv", PrivacyUnit(unit), columns, max_rows=1)


def test_cells_are_counted_as_they_would_be_read(engine):
    found = table_losses(engine, "t", table(None))
    sex, age = found.columns
    assert (sex.filled, sex.lost, sex.rare) == (40, 20, 0)
    assert set(sex.examples) == {("f ", 10), ("x", 10)}
    assert (age.filled, age.lost) == (40, 8 + 8)
    assert age.examples[0] == ("n/a", 8)
    assert found.repeats == (("who", 14),)
    assert "f " not in repr(found) + repr(sex)


def test_a_declared_spelling_loses_nothing(engine):
    told = Spelling(trim=True, any_case=True, same=(("M", ("x",)),))
    found = table_losses(engine, "t", table(None, told, Spelling(empty=("n/a",))))
    sex, age = found.columns
    assert (sex.filled, sex.lost, sex.examples) == (40, 0, ())
    assert (age.filled, age.lost) == (32, 8)


def test_people_and_the_rows_that_a_bound_keeps(engine):
    found = table_losses(engine, "t", table("who"))
    assert found.without_unit == 1
    assert sum(n * people for n, people in found.people) == 39
    assert found.kept(3) == 1.0
    assert found.kept(1) == pytest.approx(14 / 39)
    assert table_losses(engine, "t", table("who"), rare=False).people == ()
