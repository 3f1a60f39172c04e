from discreet.base.event import EVERYONE
from discreet.base.schema import (
    Column,
    Dataset,
    IdentifierDomain,
    IntegerDomain,
    Table,
    TextDomain,
)
from discreet.base.unit import Neighbours, PrivacyUnit
from discreet.data.catalog.axes import (
    LIVE,
    NamedAxis,
    axis_name,
    home,
    parse_axis,
    table_axis,
    tables_on,
)

AGE = Column("age", IntegerDomain(0, 120))
ROW, PERSON = PrivacyUnit(), PrivacyUnit("who")


def table(name="people", unit=ROW, source=None, columns=(AGE,)):
    return Table(name, source or f"{name}.csv", unit, columns)


def dataset(*tables, name="census"):
    return Dataset(name, tables, Neighbours.ADD_REMOVE, name)


def test_an_axis_says_all_on_which_a_position_depends():
    people = table()
    name = axis_name(dataset(people), people, AGE, "v1")
    assert name == f"census/people.age@{AGE.fingerprint}+v1"
    assert parse_axis(name) == NamedAxis("census", "people", "age", AGE.fingerprint, "v1")


def test_a_changed_domain_or_snapshot_is_a_new_axis():
    people, wider = table(), Column("age", IntegerDomain(0, 130))
    names = {
        axis_name(dataset(people), people, column, snapshot)
        for column in (AGE, wider)
        for snapshot in ("v1", "v2")
    }
    assert len(names) == 4


def test_an_immutable_column_keeps_its_axis_over_snapshots():
    people, born = table(), Column("born", IntegerDomain(1900, 2020), immutable=True)
    first = axis_name(dataset(people), people, born, "v1")
    assert first == axis_name(dataset(people), people, born, "v2")
    assert parse_axis(first).snapshot is None


def test_a_person_is_split_by_constant_columns_only():
    visits = table(unit=PERSON)
    constant = Column("sex", IntegerDomain(0, 1), constant=True)
    assert axis_name(dataset(visits), visits, AGE, "v1") is None
    assert axis_name(dataset(visits), visits, constant, "v1") is not None


def test_names_texts_and_public_tables_have_no_axis():
    people, public = table(), table(unit=None)
    for domain in (IdentifierDomain(), TextDomain()):
        column = Column("x", domain, constant=True)
        assert axis_name(dataset(people), people, column, "v1") is None
    assert axis_name(dataset(public), public, AGE, "v1") is None


def test_rows_of_different_tables_are_different_units():
    a, b = table("a"), table("b")
    both = dataset(a, b)
    assert (home(both, a, "1") & home(both, b, "1")).empty
    assert not home(both, a, "1").empty
    assert tables_on(both, home(both, b, "1").on(table_axis(both, "1"))) == ["b"]


def test_rows_of_two_versions_may_be_the_same():
    a, b = table("a"), table("b")
    both = dataset(a, b)
    assert not (home(both, a, "1") & home(both, b, "2")).empty


def test_rows_that_move_within_a_version_are_told_apart_by_nothing_but_what_stays():
    a, b = table("a"), table("b")
    both, live = dataset(a, b), f"{LIVE}1"
    assert home(both, a, live) == home(both, b, live) == EVERYONE
    assert axis_name(both, a, AGE, live) is None
    born = Column("born", IntegerDomain(1900, 2020), immutable=True)
    assert axis_name(both, a, born, live) == axis_name(both, a, born, "1")


def test_people_are_the_same_in_all_tables():
    a, b = table("a", PERSON), table("b", PERSON)
    assert home(dataset(a, b), a, "1") == home(dataset(a, b), b, "1") == EVERYONE


def test_one_table_needs_no_axis():
    assert home(dataset(table()), table(), "1") == EVERYONE
    lookup = table("lookup", unit=None)
    assert home(dataset(table(), lookup), table(), "1") == EVERYONE
    assert home(dataset(table(), lookup), lookup, "1") == EVERYONE


def test_the_order_of_tables_does_not_matter():
    a, b = table("a"), table("b")
    assert home(dataset(a, b), a, "1") == home(dataset(b, a), a, "1")


def naive_home(ds, one):
    """The broken twin: a table's number in the file, on an axis that never changes."""
    return {f"{ds.name}#table": [t.name for t in ds.tables].index(one.name)}


def test_a_renamed_or_added_table_never_forgets_a_bill():
    # The rows of people.csv pay while the table is called people, and again as persons.
    people, zoo = table("people"), table("a_zoo")
    persons = table("persons", source="people.csv")
    before, after = dataset(people, zoo), dataset(persons, zoo, table("aaa"))
    assert not (home(before, people, "1") & home(after, persons, "1")).empty
    # The broken twin puts the same rows at two positions, so neither bill adds to the other.
    old, new = naive_home(dataset(zoo, people), people), naive_home(after, persons)
    assert old.keys() == new.keys()
    assert old != new


def test_swapped_sources_never_forget_a_bill():
    before = dataset(table("a", source="x.csv"), table("b", source="y.csv"))
    after = dataset(table("a", source="y.csv"), table("b", source="x.csv"))
    assert not (home(before, before.tables[0], "1") & home(after, after.tables[1], "1")).empty
