import pyarrow as pa
import pytest

from discreet.base.numbers import Delta, Epsilon
from discreet.base.schema import CategoryDomain, IdentifierDomain, IntegerDomain
from discreet.data.catalog import loads
from discreet.data.catalog import proposal as infer
from discreet.data.catalog.proposal import InitRequest
from discreet.data.catalog.sources import Sources
from discreet.data.catalog.toml_text import render_toml
from discreet.errors import InvalidInput, NotReviewed

PEOPLE = pa.table({
    "person": [i // 3 for i in range(900)],
    "age": [i % 80 for i in range(900)],
    "sex": [("f", "m")[i // 3 % 2] for i in range(900)],
    'odd name, "quoted"': ["?" if i % 10 == 0 else "x" for i in range(900)],
    "list": [[i] for i in range(900)],
})  # fmt: skip


def propose(engine, sources, **words):
    return infer.propose(engine, Sources("duckdb:", sources), InitRequest.of(**words))


@pytest.fixture
def engine(owner_engine):
    return owner_engine(people=PEOPLE)


def read(proposal, tmp_path):
    return loads(render_toml(proposal), base=tmp_path)


def test_without_a_budget_and_a_unit_nothing_can_be_asked(engine, tmp_path):
    text = render_toml(propose(engine, {"people": "people.csv"}, dataset="d"))
    assert "# epsilon = 1.0" in text
    assert '# unit = "row"' in text
    with pytest.raises(NotReviewed, match="epsilon"):
        loads(text, base=tmp_path).table("people")


def test_with_both_the_columns_still_wait(engine, tmp_path):
    proposal = propose(
        engine, {"people": "people.csv"}, dataset="d", unit="row", epsilon=Epsilon.of("0.1")
    )
    catalog = read(proposal, tmp_path)
    people = catalog.table("people")
    assert people.column("age").domain == IntegerDomain(0, 80)
    with pytest.raises(NotReviewed):
        catalog.column(people, "age")
    assert people.column('odd name, "quoted"').domain == CategoryDomain(("x",))
    assert people.column("list").hidden
    assert str(catalog.budgets["d"].epsilon) == "0.1"


def test_the_comments_tell_the_owner_what_was_seen(engine):
    text = render_toml(propose(engine, {"people": "people.csv"}, dataset="d"))
    assert "# Seen: 900 rows." in text
    assert "# Seen: 0 to 79, 80 distinct." in text
    assert "10% of the rows have no value" in text


def test_accept_declares_the_domains_public(engine, tmp_path):
    proposal = propose(
        engine,
        {"people": "people.csv"},
        dataset="d",
        unit="PERSON",
        epsilon=Epsilon.of(1),
        delta=Delta.of("1e-9"),
        accept=True,
    )
    catalog = read(proposal, tmp_path)
    people = catalog.table("people")
    assert catalog.accepted
    assert people.unit.column == "person"
    assert people.max_rows == 3
    assert catalog.column(people, "age").domain == IntegerDomain(0, 80)
    assert catalog.column(people, "person").domain == IdentifierDomain()
    assert people.column("sex").constant
    assert not people.column("age").constant


def test_a_person_without_accept_gets_a_suggested_bound(engine, tmp_path):
    proposal = propose(
        engine, {"people": "people.csv"}, dataset="d", unit="person", epsilon=Epsilon.of(1)
    )
    text = render_toml(proposal)
    assert "# max_rows = 3" in text
    assert loads(text, base=tmp_path).table("people").max_rows is None


@pytest.mark.parametrize("given", [{"unit": "row"}, {"epsilon": Epsilon.of(1)}, {}])
def test_accept_needs_the_owners_two_choices(engine, given):
    with pytest.raises(InvalidInput, match="--accept needs --epsilon and --unit"):
        propose(engine, {"people": "people.csv"}, dataset="d", accept=True, **given)


def test_a_unit_that_is_no_column(engine):
    with pytest.raises(InvalidInput, match="no column 'nobody'"):
        propose(engine, {"people": "people.csv"}, dataset="d", unit="nobody")


def test_a_table_without_rows(owner_engine):
    engine = owner_engine(people=PEOPLE.slice(0, 0))
    with pytest.raises(InvalidInput, match="no rows"):
        propose(engine, {"people": "people.csv"}, dataset="d")


def test_profiles_do_not_show_values(engine):
    from discreet.data.catalog.profile import read_profile

    assert "79" not in repr(read_profile(engine, "people", "age"))
