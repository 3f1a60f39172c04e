import pyarrow as pa
import pytest

from discreet.anonymize.source import (
    AnonymizeSource,
    declared_source,
    hidden_columns,
    is_file,
    narrowed,
    open_source,
)
from discreet.data.catalog.policy_file import loads
from discreet.errors import CatalogError, EngineFailed, InvalidInput
from discreet.testing import FakeEngine

TOML = """
[datasets.town]
epsilon = 1
[datasets.town.tables.people]
source = "people.parquet"
unit = "person"
max_rows = 1
[datasets.town.tables.people.columns]
age = { type = "integer", lower = 0, upper = 120 }
note = { type = "text", hidden = true }
"""


def fake(answers=None):
    return FakeEngine({"t": {"Age": "BIGINT", "sex": "VARCHAR"}}, answers=answers)


def test_columns_are_found_without_regard_to_case():
    source = narrowed(fake(), "t", "people.csv")
    assert source.named(["AGE", " sex "]) == ("Age", "sex")
    with pytest.raises(InvalidInput, match=r"'people\.csv' has no column 'zip'") as error:
        source.column("zip")
    assert "Age, sex" in error.value.hint


def test_a_condition_is_part_of_the_relation():
    source = narrowed(fake(), "t", "t", where="age > 3")
    assert source.relation == '(SELECT * FROM "t" AS w WHERE "Age" > 3) AS kept_rows'
    assert narrowed(fake(), "t", "t").relation == '"t" AS kept_rows'


def test_a_table_without_rows_is_refused():
    empty = pa.table({"n": [0]})
    with pytest.raises(InvalidInput, match="has no rows"):
        narrowed(fake(empty), "t", "t").rows()
    assert narrowed(fake(pa.table({"n": [7]})), "t", "t").rows() == 7


def test_a_failure_says_nothing_of_the_rows():
    with pytest.raises(EngineFailed, match="could not be read"):
        narrowed(fake(None), "t", "t").rows()


def test_hidden_columns_and_the_person_are_never_copied(tmp_path):
    catalog = loads(TOML, base=tmp_path)
    assert set(hidden_columns(catalog.table("people"))) == {"note", "person"}


def test_a_declared_column_that_the_source_lacks_is_refused(tmp_path):
    catalog = loads(TOML, base=tmp_path)
    good = FakeEngine({"town.people": {"person": "BIGINT", "age": "BIGINT", "note": "VARCHAR"}})
    assert declared_source(good, *catalog.named("people")).hidden.keys() == {"note", "person"}
    # Under another spelling 'note' would not be hidden.
    for columns in ({"person": "", "agee": ""}, {"person": "", "age": "", "Note": ""}):
        with pytest.raises(CatalogError, match=r"table 'people' .* has no column"):
            declared_source(FakeEngine({"town.people": columns}), *catalog.named("people"))


def test_what_is_a_file(tmp_path):
    assert is_file("people.csv")
    assert is_file("people.PARQUET")
    assert not is_file("town.people")
    (tmp_path / "odd").touch()
    assert is_file(str(tmp_path / "odd"))
    with pytest.raises(InvalidInput), open_source(str(tmp_path / "odd")):
        pass


def test_a_source_shows_no_row():
    assert "Age" in repr(AnonymizeSource(fake(), "t", "t", ("Age",)))


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("discreet.toml", "people.csv"),
        ("discreet.toml", "*.csv"),
        ("discreet.toml", "."),
        ("discreet.toml", "link.csv"),
        ("other.toml", "people.csv"),
        ("../discreet.toml", "in/people.csv"),
        ("../far/discreet.toml", "../in/people.csv"),
    ],
)
def test_what_a_toml_hides_of_a_file_is_found(tmp_path, monkeypatch, place, source):
    """Beside the file or its link, in this folder, or named; finished or not; in any spelling."""
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "far").mkdir()
    (folder / "people.csv").write_text("Mail,age,who\nm,1,a\nn,2,b\n")
    (folder / "link.csv").symlink_to("people.csv")
    (tmp_path / "far" / "people.csv").symlink_to(folder / "people.csv")
    text = TOML.replace("epsilon = 1\n", "").replace("note", "mail").replace('"person"', '"who"')
    (folder / place).write_text(text.replace("people.parquet", source))
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "far" / "people.csv" if "far" in place else folder / "people.csv"
    config = folder / place if place == "other.toml" else None
    with open_source(str(file), config=config) as found:
        assert found.hidden == {"Mail": "hidden in discreet.toml", "who": "the person column"}


def test_a_toml_that_cannot_be_read_hides_everything(tmp_path):
    (tmp_path / "people.csv").write_text("mail,age\nm,1\n")
    (tmp_path / "discreet.toml").write_text("[datasets.town.tables.people\n")
    with pytest.raises(CatalogError), open_source(str(tmp_path / "people.csv")):
        pytest.fail("opened without knowing what is hidden")
