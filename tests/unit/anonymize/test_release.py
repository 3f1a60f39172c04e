import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import discreet
from discreet.anonymize.release import expose, exposure_of, measure_curve
from discreet.anonymize.run import AnonymizeRequest
from discreet.anonymize.source import AnonymizeSource
from discreet.base.event import NonPrivate
from discreet.base.numbers import Epsilon
from discreet.curator import open as open_curator
from discreet.data.catalog.bare_file import bare_table
from discreet.errors import InvalidInput
from discreet.privacy.ledger.ledger import Ledger
from discreet.privacy.ledger.reports import budget_words, exposure_note
from discreet.server.features.anonymize import in_child
from discreet.tasks.anonymize import anonymize as tasks_anonymize
from ledger_kit import open_ledger


def test_the_event_names_table_and_columns():
    event = exposure_of("people", ["age", "ill"], conditions="k = 5", rows=1200)
    assert isinstance(event, NonPrivate)
    assert event.columns == ("people.age", "people.ill")
    assert event.reason == "an anonymized copy of people (k = 5; 1,200 rows)"


def test_the_ledger_remembers_over_a_restart(tmp_path):
    ledger = open_ledger(tmp_path, "1", "1e-9")
    assert ledger.exposed("census") is None
    assert exposure_note(ledger, "census") is None
    first = exposure_of("people", ["age"], conditions="k = 5", rows=10)
    second = exposure_of("people", ["age", "ill"], conditions="k = 5", rows=10)
    assert expose(ledger, "census", first) == 0
    assert expose(ledger, "census", second) == 1
    ledger.close()
    again = open_ledger(tmp_path, "1", "1e-9")
    assert again.exposed("census") == ("people.age", "people.ill")
    assert again.exposed("other") is None
    assert "people.age, people.ill of 'census'" in exposure_note(again, "census")
    shown = budget_words(again, {"census": "census"}, describe=str, last=5)
    assert "exposed: people.age, people.ill" in shown
    again.close()


def makers(source):
    """Return the files outside of the room's own steps that make or measure a copy by themselves."""
    made = re.compile(
        r"from discreet\.anonymize\.(?:run|release) import (?:\([^)]*|[^(\n]*)\b(?:run|curve)\b"
    )
    return {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if made.search(path.read_text(encoding="utf-8"))
    }


def test_copies_are_made_and_measured_in_one_place(tmp_path):
    assert makers(Path(discreet.__file__).parent) == {"anonymize/release.py"}
    (tmp_path / "front.py").write_text("from discreet.anonymize.run import Anonymized, run\n")
    assert makers(tmp_path) == {"front.py"}


@pytest.fixture
def place(tmp_path):
    lines = "".join(f"p{i},{i % 5}\n" for i in range(60))
    (tmp_path / "people.csv").write_text("name,age\n" + lines)
    bare_table(tmp_path / "people.csv", epsilon=Epsilon.of("1"), unit="name")
    return tmp_path


WISH = AnonymizeRequest.of(k=2, quasi=("age",))


def by_the_curator(place):
    with open_curator(place / "discreet.toml") as curator:
        return curator.anonymize("people", k=2, quasi=("age",))


def by_the_command(place):
    return tasks_anonymize(place / "people.csv", k=2, quasi=("age",), out=place / "copy.csv")


def by_the_server(place):
    with open_curator(place / "discreet.toml") as curator:
        bench = SimpleNamespace(
            curator=lambda: curator, advance=lambda *_: None, folder=place / "scratch"
        )
        bench.folder.mkdir(exist_ok=True)
        return in_child.make(bench, state=place / "state", table="people", where=None, request=WISH)


def left(place):
    """Return what was written of a copy."""
    return [*place.glob("copy.csv"), *place.glob("state/**/rows.csv")]


@pytest.mark.parametrize("make", [by_the_curator, by_the_command, by_the_server])
def test_whoever_makes_a_copy_the_exposure_is_recorded_before_it_leaves(place, make, monkeypatch):
    make(place)
    with open_curator(place / "discreet.toml") as curator:
        assert "people.age" in curator.ledger.exposed("people")
    if make is not by_the_curator:
        assert len(left(place)) == 1

    def on_fire(*_given, **_named):
        raise InvalidInput("The ledger is on fire.")

    before = left(place)
    monkeypatch.setattr(Ledger, "record_exposure", on_fire)
    with pytest.raises(InvalidInput, match="on fire"):
        make(place)
    assert left(place) == before


def test_what_several_k_would_leave_is_told_after_the_look_was_recorded(place, monkeypatch):
    with open_curator(place / "discreet.toml") as curator:
        before, points = measure_curve(curator, "people", WISH)
        assert points
        assert before.prosecutor.average > 0
        looks = [entry for entry in curator.history() if entry["kind"] == "look"]
        assert len(looks) == 1
        monkeypatch.setattr(AnonymizeSource, "run", None)
        monkeypatch.setattr(Ledger, "record_look", lambda *_, **__: (_ for _ in ()).throw(OSError))
        with pytest.raises(OSError):  # and not that no row can be read
            measure_curve(curator, "people", WISH)


def test_a_refusal_is_a_look_that_the_ledger_remembers(tmp_path):
    """Whether there are as many rows as k is a fact of the rows, which a refusal tells exactly."""
    rows = "".join(f"{20 + i % 50},{'FM'[i % 2]}\n" for i in range(60))
    (tmp_path / "people.csv").write_text("age,sex\n" + rows)
    (tmp_path / "discreet.toml").write_text(
        '[datasets.town]\nepsilon = 1\n[datasets.town.tables.people]\nsource = "people.csv"\nunit = "row"\n'
        "[datasets.town.tables.people.columns]\nage = { type = 'integer', lower = 0, upper = 120 }\n"
        "sex = { type = 'category', values = ['F', 'M'] }\n"
    )
    with open_curator(tmp_path / "discreet.toml") as curator:
        for where in ("age < 30", "age > 119"):
            with pytest.raises(InvalidInput):
                curator.anonymize("people", k=200, quasi=["age"], where=where)
        looks = [entry for entry in curator.ledger.history() if entry.kind == "look"]
        assert len(looks) == 2
        assert curator.ledger.exposed("town") is None
        curator.anonymize("people", k=2, quasi=["sex"])
        assert curator.ledger.exposed("town") == ("people.sex",)
