import csv
from contextlib import contextmanager
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from discreet.anonymize.command import anonymize_file
from discreet.anonymize.risk import measure
from discreet.anonymize.run import AnonymizeRequest, run
from discreet.anonymize.source import open_source
from discreet.base.event import NonPrivate
from discreet.base.numbers import Epsilon
from discreet.curator import open as open_curator
from discreet.data.catalog.bare_file import bare_table
from discreet.data.catalog.policy_file import load
from discreet.errors import InvalidInput

HEADER = "name,zip,age,ill"
QUASI = ("zip", "age")


def people(folder, rows=60):
    path = folder / "people.csv"
    lines = [
        f"n{i},{'0213' if i % 3 else '0214'}{i % 4},{20 + i % 17},{'flu' if i % 5 else 'cold'}"
        for i in range(rows)
    ]
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return path


class Memory:
    """A ledger that notes what it was told, and whether the copy was there already."""

    def __init__(self, out):
        self.out, self.told = out, []

    @contextmanager
    def __call__(self, place):
        self.place = place
        yield self

    def exposures(self, dataset):
        return [each for _, name, each in self.told if name == dataset]

    def record_exposure(self, dataset, *, reason, columns):
        assert not self.out.exists(), "the exposure is recorded before anything is written"
        self.told.append((self.place, dataset, NonPrivate(reason, columns)))


def request(**more):
    return AnonymizeRequest.of(
        **({"k": 4, "quasi": QUASI, "redact": ["name"], "suppress": 0.1} | more)
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    source, out = people(folder), folder / "copy.csv"
    memory = Memory(out)
    found = anonymize_file(
        str(source),
        request(sensitive="ill"),
        remember=memory,
        out=out,
        report=folder / "why.html",
    )
    return found, memory, folder


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    with open_source(str(people(tmp_path_factory.mktemp("open")))) as source:
        yield source


def test_the_copy_is_k_anonymous_by_an_independent_count(made):
    found, _, folder = made
    with (folder / "copy.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["zip", "age", "ill"]
    sizes: dict[tuple[str, str], int] = {}
    for row in rows:
        key = (row["zip"], row["age"])
        sizes[key] = sizes.get(key, 0) + 1
    assert min(sizes.values()) >= 4
    said = found.to_json()
    assert len(rows) == said["rows"] - said["suppressed"]
    assert len(sizes) == said["classes"]
    assert (
        said["discernibility"]
        == sum(n * n for n in sizes.values()) + said["rows"] * (said["suppressed"])
    )


def test_json_keeps_the_contract(made):
    said = made[0].to_json()
    assert said["k"] == 4
    assert said["rows"] == 60
    assert set(said["levels"]) == set(QUASI)
    assert said["optimal"] is True
    assert said["risk"]["prosecutor"]["highest"] <= 1 / 4
    assert said["risk"]["before"]["prosecutor"]["highest"] > 1 / 4
    assert said["redacted"] == ["name"]
    assert "not a guarantee" in said["says"]


def test_words_say_what_it_is_not(made):
    words = " ".join(made[0].words())
    assert "This is not a guarantee" in words
    assert "discreet attack intersection" in words
    assert "ledger remembers" in words


def test_the_exposure_names_every_published_column(made):
    _, memory, folder = made
    ((place, dataset, event),) = memory.told
    assert place == folder / "discreet.toml"
    assert dataset == "people"
    assert event.columns == ("people.zip", "people.age", "people.ill")
    assert "k = 4" in event.reason


def test_the_toml_beside_has_no_budget_until_one_comes(made):
    folder = made[2]
    place = folder / "discreet.toml"
    catalog = load(place)
    assert list(catalog.unfinished) == ["people"]
    found = bare_table(folder / "people.csv", epsilon=Epsilon.of("0.5"), unit="name")
    assert found.table == "people.people"
    known = load(place).dataset("people")
    assert str(load(place).budget_of(known).epsilon) == "0.5"
    assert known.tables[0].unit.column == "name"


def test_the_report_says_why_and_what_breaks_it(made):
    text = (made[2] / "why.html").read_text()
    for words in (
        "Not a guarantee",
        "Why these levels",
        "the next best",
        "Risk before and after",
        "What remains, and what breaks it",
        "pitman",
        "written in the ledger",
    ):
        assert words in text, words
    assert "n17" not in text


def test_a_second_copy_is_told_that_it_is_one(made):
    _, memory, folder = made
    memory.out = folder / "again.parquet"
    again = anonymize_file(
        str(folder / "people.csv"), request(), remember=memory, out=folder / "again.parquet"
    )
    assert "1 earlier release of" in again.to_json()["notices"][-1]
    assert pq.read_table(folder / "again.parquet").num_rows == again.made.table.num_rows
    with open_source(str(folder / "again.parquet")) as source:
        assert measure(source, QUASI).sizes.k >= 4


def test_a_telling_column_is_noticed(tmp_path):
    out = tmp_path / "copy.csv"
    telling = request(redact=[], keep=["name"])
    found = anonymize_file(str(people(tmp_path)), telling, remember=Memory(out), out=out)
    assert any("another value of name" in notice for notice in found.to_json()["notices"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"quasi": ["zip", "height"]}, "no column 'height'"),
        ({"k": 61}, "needs 61 rows"),
        ({"redact": ["zip"]}, "cannot be a quasi-identifier"),
        ({"redact": ["ill"], "sensitive": "ill"}, "sensitive and redacted"),
        ({"keep": ["zip"]}, "cannot be a quasi-identifier and kept"),
        ({"keep": ["height"]}, "no column 'height'"),
        ({"keep": ["ill", "ILL"]}, "named twice"),
        ({"suppress": 2.0}, "between 0 and 1"),
        ({"weights": {"height": 2.0}}, "no column 'height'"),
    ],
)
def test_what_makes_no_sense_is_refused(opened, changes, said):
    with pytest.raises(InvalidInput, match=said):
        run(opened, request(**changes))


def test_a_refusal_leaves_nothing(tmp_path):
    source, out = people(tmp_path, rows=8), tmp_path / "copy.csv"
    memory = Memory(out)
    with pytest.raises(InvalidInput, match="needs 9 rows"):
        anonymize_file(str(source), request(k=9), remember=memory, out=out)
    assert memory.told == []
    assert not out.exists()
    assert not (tmp_path / "discreet.toml").exists()


def test_a_hierarchy_that_does_not_cover_a_value(opened, tmp_path):
    (tmp_path / "zip.csv").write_text("02130;*\n")
    with pytest.raises(InvalidInput, match="does not cover") as error:
        run(opened, request(hierarchies=tmp_path))
    assert "0214" not in str(error.value)


def test_the_copy_must_not_replace_the_original(tmp_path):
    source = people(tmp_path, rows=8)
    for out, said in ((source, "must not replace"), (tmp_path / "copy.xlsx", "neither")):
        with pytest.raises(InvalidInput, match=said):
            anonymize_file(str(source), request(), remember=Memory(source), out=out)
    assert source.read_text().startswith(HEADER)


def test_if_the_ledger_fails_nothing_is_written(tmp_path):
    source, out = people(tmp_path, rows=20), tmp_path / "copy.csv"

    def broken(*_):
        raise InvalidInput("The ledger is on fire.")

    with pytest.raises(InvalidInput, match="on fire"):
        anonymize_file(str(source), replace(request(), k=2), remember=broken, out=out)
    assert not out.exists()


def test_the_curator_makes_marked_copies_too(tmp_path):
    path = people(tmp_path)
    bare_table(path, epsilon=Epsilon.of("1"), unit="name")
    with open_curator(tmp_path / "discreet.toml") as curator:
        made = curator.anonymize("people", k=4, quasi=QUASI, keep=["ill"], suppress=0.1)
        assert made.left_out == {"name": "the person column"}
        assert made.after.sizes.k >= 4
        assert curator.ledger.exposed("people") == ("people.zip", "people.age", "people.ill")
        answer = curator.query("SELECT COUNT(*) AS n FROM people", epsilon="0.1")
        assert any("people.zip" in note for note in answer.provenance.notes)


def test_another_method_is_proposed_where_it_loses_less(made):
    found, said = made[0], made[0].to_json()
    assert {each["method"] for each in said["alternatives"]} == {"local", "mondrian"}
    best = min(said["alternatives"], key=lambda each: each["loss"])
    proposed = [notice for notice in found.made.notices if "--method" in notice]
    assert bool(proposed) == (said["loss"] - best["loss"] > 0.02)


def test_a_copy_that_is_close_by_the_hierarchy_of_its_sensitive_column(opened, tmp_path):
    (tmp_path / "ill.csv").write_text("flu;lung;*\ncold;lung;*\n")
    close = request(sensitive="ill", t=0.05, distance="hierarchical", hierarchies=tmp_path)
    found = run(opened, close)
    (varied,) = found.after.diversity
    # Both illnesses are of the lung, so moving between them is half as far as equal distance says.
    assert varied.hierarchical_t == pytest.approx(varied.t / 2)
    assert varied.hierarchical_t <= 0.05 + 1e-9
    assert "hierarchical distance" in found.result.conditions
    assert run(opened, request(sensitive="ill", t=0.05)).result.classes <= found.result.classes
