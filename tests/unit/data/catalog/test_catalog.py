import pytest

from discreet.data.catalog import engine_name, loads
from discreet.errors import CatalogError, NotReviewed, UnknownName

TABLE = """
[datasets.{dataset}]
epsilon = 1
[datasets.{dataset}.tables.{table}]
source = "{dataset}-{table}.csv"
unit = "row"
[datasets.{dataset}.tables.{table}.columns]
age = {{ type = "integer", lower = 0, upper = 120 }}
job = {{ type = "category", values = ["A"], review = true }}
note = {{ type = "text", hidden = true }}
"""


@pytest.fixture
def catalog(tmp_path):
    text = TABLE.format(dataset="census", table="people") + TABLE.format(
        dataset="tax", table="People"
    )
    return loads(text + TABLE.format(dataset="zoo", table="animals"), base=tmp_path)


def test_tables_are_found_without_regard_to_case(catalog):
    assert catalog.table("ANIMALS").name == "animals"
    assert catalog.dataset_of("Animals").name == "zoo"
    assert catalog.dataset_of(catalog.table("animals")).name == "zoo"


def test_a_name_in_two_datasets_must_say_which(catalog):
    with pytest.raises(UnknownName, match=r"several datasets.*census.people or tax.People"):
        catalog.table("people")
    assert catalog.table("people", "TAX").source == "tax-People.csv"
    assert catalog.dataset_of(catalog.table("people", "census")).name == "census"


def test_what_is_written_is_a_table_or_a_table_of_a_dataset(catalog):
    for written in ("animals", "ZOO.Animals"):
        dataset, table = catalog.named(written)
        assert (dataset.name, table.name) == ("zoo", "animals")
    assert catalog.named("tax.people")[1].source == "tax-People.csv"
    for written in ("people", "zoo.people", "xyz.people", ".people", "nobody"):
        with pytest.raises(UnknownName):
            catalog.named(written)


def test_unknown_names_get_a_suggestion(catalog):
    with pytest.raises(UnknownName, match="Did you mean 'animals'"):
        catalog.table("animal")
    with pytest.raises(UnknownName, match="There are: census, tax, zoo"):
        catalog.dataset("xyz")
    with pytest.raises(UnknownName, match="no table 'people'"):
        catalog.table("people", "zoo")


def test_a_column_waits_for_review(catalog):
    animals = catalog.table("animals")
    assert catalog.column(animals, "AGE").name == "age"
    with pytest.raises(NotReviewed, match=r"'job' of table 'animals'.*remove 'review = true'"):
        catalog.column(animals, "job")
    with pytest.raises(UnknownName, match="has no column 'note'"):
        catalog.column(animals, "note")
    with pytest.raises(UnknownName, match="no column 'x'"):
        catalog.column(animals, "x")


def test_waiting_columns_are_listed_for_the_owner(catalog):
    assert sum("waits for review" in warning for warning in catalog.warnings) == 3


def test_sources_have_names_of_their_own(catalog):
    assert catalog.sources == {
        "census.people": "census-people.csv",
        "tax.People": "tax-People.csv",
        "zoo.animals": "zoo-animals.csv",
    }
    zoo = catalog.dataset("zoo")
    assert engine_name(zoo, zoo.tables[0]) == "zoo.animals"


def test_an_analyst_asks_only_what_is_granted(tmp_path):
    text = TABLE.format(dataset="a", table="t") + TABLE.format(dataset="b", table="u")
    text += "[analysts.eve]\ndatasets = { a = { epsilon = 0.5, delta = 1e-6 } }\n"
    catalog = loads(text, base=tmp_path)
    assert str(catalog.cap("eve", catalog.dataset("a")).delta) == "0.000001"
    with pytest.raises(CatalogError, match="'eve' may not ask 'b'"):
        catalog.cap("eve", catalog.dataset("b"))


def test_the_stamp_of_unseen_domains(tmp_path):
    text = TABLE.format(dataset="a", table="t")
    assert not loads(text, base=tmp_path).accepted
    stamped = loads(text.replace("epsilon = 1", "epsilon = 1\naccepted = true"), base=tmp_path)
    assert stamped.accepted
    assert stamped.dataset("a").accepted
