"""What declarations leave out is counted exactly and shown with examples, to the owner."""

from __future__ import annotations

import pytest

from discreet.base.schema import (
    CategoryDomain,
    Column,
    IdentifierDomain,
    IntegerDomain,
    Table,
)
from discreet.base.spelling import Spelling
from discreet.base.unit import PrivacyUnit
from discreet.data.engines.connect import connect
from discreet.privacy.kernel.losses import ColumnLoss, TableLosses, table_losses

ROWS = "who,sex,age\n" + "".join(
    f"{'p' + str(i // 3) if i else ''},{('F', 'f ', 'M', 'x')[i % 4]},{'n/a' if i % 5 == 0 else i}\n"
    for i in range(40)
)

FEW_ROWS = "who,code,once,same,half,town\n" + "".join(
    f"{who},{i},{i},1,{i % 2},{town}\n"
    for i, (who, town) in enumerate(
        [
            *(("a", "X") for _ in range(6)),  # six rows of one person
            *((who, "Y") for who in "abcde"),  # five people
            *((who, "Z") for who in "abcd"),
            *((who, f"lost {who}") for who in "abcdef"),
        ]
    )
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("losses")
    (folder / "t.csv").write_text(ROWS, encoding="utf-8")
    (folder / "few.csv").write_text(FEW_ROWS, encoding="utf-8")
    found = connect("duckdb:", {"t": "t.csv", "few": "few.csv"}, base=folder)
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


def few(unit, **told):
    columns = (
        Column("who", IdentifierDomain()),
        Column("once", IdentifierDomain()),
        Column("same", IdentifierDomain()),
        Column("half", IdentifierDomain()),
        Column("gone", IdentifierDomain()),
        Column("hidden", IdentifierDomain(), hidden=True),
        Column("town", CategoryDomain(("X", "Y", "Z", "nowhere")), **told),
        Column("absent", IntegerDomain(0, 1)),
        Column("code", IntegerDomain(0, 99)),
    )
    return Table("few", "few.csv", PrivacyUnit(unit), columns, max_rows=1)


def test_values_of_few_people_are_counted(engine):
    town, code = table_losses(engine, "few", few("who")).columns
    # X is one person's, Z four people's, Y those of five; nowhere is nobody's.
    assert (town.column, town.filled, town.lost, town.rare) == ("town", 21, 6, 2)
    assert len(town.examples) == 5
    assert town.examples[0] == ("lost a", 1)
    assert (code.column, code.filled, code.lost, code.examples, code.rare) == ("code", 21, 0, (), 0)


def test_values_of_few_rows_are_counted_where_rows_are_people(engine):
    found = table_losses(engine, "few", few(None))
    assert found.columns[0].rare == 1
    # Each row its own value, one value for all, or a few for several rows each.
    assert found.repeats == (("who", 6), ("half", 2))
    assert found.people == ()
    assert found.without_unit == 0
    assert found.rows == 21


def test_who_asks_for_no_rare_values_gets_none(engine):
    found = table_losses(engine, "few", few(None), rare=False)
    assert (found.columns[0].rare, found.repeats, found.people) == (0, (), ())
    found = table_losses(engine, "few", few("who"), rare=False)
    assert (found.columns[0].rare, found.repeats, found.people) == (0, (), ())


def test_people_who_repeat_are_no_repeats(engine):
    found = table_losses(engine, "few", few("who"))
    assert found.repeats == ()
    # a has 9 rows, b to d 3, e 2, f 1.
    assert found.people == ((1, 1), (2, 1), (3, 3), (9, 1))


def test_a_spelled_table_is_counted_as_well(engine):
    (town, _) = table_losses(
        engine, "few", few("who", spelling=Spelling(empty=("lost a",)))
    ).columns
    assert (town.filled, town.lost) == (20, 5)


def test_a_table_without_names_has_no_repeats(engine):
    columns = (Column("code", IntegerDomain(0, 99)),)
    found = table_losses(engine, "few", Table("few", "few.csv", PrivacyUnit(), columns))
    assert found.repeats == ()


def test_the_share_of_rows_that_a_bound_keeps():
    found = TableLosses(10, 0, (), people=((1, 4), (3, 2)))
    assert found.kept(1) == 0.6
    assert found.kept(2) == 0.8
    assert found.kept(3) == 1.0
    assert TableLosses(0, 0, ()).kept(1) == 1.0
    assert ColumnLoss("x", 3, 0).rare == 0
