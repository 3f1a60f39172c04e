"""Snapshots on disk: immutable, found again, held, collected, and never a stranger's."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.data.catalog.policy_file import loads
from discreet.data.engines import files
from discreet.data.engines.base import EngineLimits, open_exact
from discreet.data.engines.connect import connect
from discreet.data.engines.copies import state_key
from discreet.data.engines.duckdb.snapshots import NEWEST, SnapshotStore
from discreet.data.engines.files import ContentHashes
from discreet.errors import CatalogError
from discreet.privacy.kernel.canonical import CanonicalRecipe
from ledger_kit import forked
from patience import eventually
from permits import paid

LIMITS = EngineLimits(seconds=20.0, memory_mb=512, threads=1, workers=2)
TOML = """
[datasets.town]
epsilon = 10
[datasets.town.tables.people]
source = "{source}"
unit = "person"
max_rows = 3
[datasets.town.tables.people.columns]
person = {{ type = "{person}" }}
age = {{ type = "integer", lower = 0, upper = 120 }}
"""


def catalog(base: Path, source="people.csv", person="identifier"):
    return loads(TOML.format(source=source, person=person), base=base)


def recipe(known):
    return {"town.people": CanonicalRecipe(known.dataset("town"), known.table("people"))}


def count(held, what="COUNT(*)") -> int:
    found = open_exact(paid(held).run(f'SELECT {what} AS n FROM canon."town.people" AS t'))
    return int(found.column("n")[0].as_py())


def write(path: Path, rows: int) -> None:
    path.write_text("person,age\n" + "".join(f"{i},{i % 90}\n" for i in range(rows)))


@pytest.fixture
def town(tmp_path):
    """Return a folder with ten people, and an engine over it."""
    write(tmp_path / "people.csv", 10)
    known = catalog(tmp_path)
    engine = connect("duckdb:", known.sources, base=tmp_path, state=tmp_path, limits=LIMITS)
    yield tmp_path, known, engine
    engine.close()


def snapshots(base: Path) -> list[Path]:
    return sorted(path.parent for path in (base / "duckdb/canon").glob("*/rows.duckdb"))


@pytest.mark.parametrize("how", ["replaced", "appended", "in place", "deleted", "emptied"])
def test_what_is_fingerprinted_is_what_is_read(town, how):
    base, known, engine = town
    path = base / "people.csv"
    with engine.hold(recipe(known)) as held:
        first = held.fingerprints["town.people"]
        if how == "replaced":
            write(base / "new.csv", 15)
            (base / "new.csv").replace(path)
        elif how == "appended":
            with path.open("a") as file:
                file.write("77,7\n")
        elif how == "in place":
            write(path, 15)
        elif how == "deleted":
            path.unlink()
        else:
            path.write_text("person,age\n")
        assert count(held) == 10
        if how == "deleted":
            with pytest.raises(CatalogError, match="does not exist"):
                engine.hold(recipe(known))
            return
        with engine.hold(recipe(known)) as later:
            assert later.fingerprints["town.people"] != first
            assert count(later) == {"appended": 11, "emptied": 0}.get(how, 15)
            # Two versions of one table at the same time, through the same children.
            assert count(held) == 10
            assert count(later, "COUNT(DISTINCT t.u)") == count(later)


def test_a_file_replaced_while_it_is_copied_is_read_as_it_was_hashed(town, monkeypatch):
    base, known, engine = town
    copied = ContentHashes.copy

    def slow(self, source, folder):
        found = copied(self, source, folder)
        write(base / "people.csv", 15)
        return found

    monkeypatch.setattr(ContentHashes, "copy", slow)
    with engine.hold(recipe(known)) as held:
        assert count(held) == 10
        first = held.fingerprints["town.people"]
    monkeypatch.setattr(ContentHashes, "copy", copied)
    with engine.hold(recipe(known)) as held:
        assert (count(held), held.fingerprints["town.people"] != first) == (15, True)


def test_the_broken_twin_that_hashes_before_it_reads_is_caught(town, monkeypatch):
    """Hash first, copy later: what the engines did before. Ten are recorded, fifteen are read."""
    base, known, engine = town

    def apart(self, source, folder):
        found = self.of(source)
        write(base / "people.csv", 15)
        target = folder / "0.csv"
        shutil.copy(source.paths[0], target)
        return files.FileSource(source.kind, (target,)), found

    write(base / "people.csv", 10)
    with engine.hold(recipe(known)) as held:
        ten = held.fingerprints["town.people"]
    shutil.rmtree(base / "duckdb/canon")
    (base / "duckdb/canon").mkdir()
    monkeypatch.setattr(ContentHashes, "copy", apart)
    with engine.hold(recipe(known)) as held:
        assert held.fingerprints["town.people"] == ten
        assert count(held) == 15


def test_one_content_is_made_once_and_found_by_the_next_process(town):
    base, known, engine = town
    with engine.hold(recipe(known)), engine.hold(recipe(known)):
        pass
    (made,) = snapshots(base)
    before = (made / "rows.duckdb").stat().st_mtime_ns
    other = connect("duckdb:", known.sources, base=base, state=base, limits=LIMITS)
    with other.hold(recipe(known)) as held:
        assert count(held) == 10
    other.close()
    assert snapshots(base) == [made]
    assert (made / "rows.duckdb").stat().st_mtime_ns == before
    assert made.stat().st_mode & 0o077 == 0


def test_other_declarations_are_another_snapshot(town):
    base, known, engine = town
    with engine.hold(recipe(known)):
        pass
    with engine.hold(recipe(catalog(base, person="text"))):
        pass
    narrow = loads(
        TOML.format(source="people.csv", person="identifier").replace("120", "5"), base=base
    )
    with engine.hold(recipe(narrow)) as held:
        assert count(held, "COUNT(t.c1)") == 6
    assert len(snapshots(base)) == 2


def test_damaged_and_foreign_snapshots_are_made_again(town, tmp_path_factory):
    base, known, engine = town
    with engine.hold(recipe(known)):
        pass
    (made,) = snapshots(base)
    whole = (made / "rows.duckdb").read_bytes()
    for damage in ("cut", "foreign", "gone", "unsealed"):
        if damage == "cut":
            (made / "rows.duckdb").write_bytes(whole[: len(whole) // 2])
        elif damage == "gone":
            (made / "about.json").unlink()
        elif damage == "unsealed":
            about = json.loads((made / "about.json").read_text())
            (made / "about.json").write_text(json.dumps({**about, "dropped": {}}))
        else:
            strange = tmp_path_factory.mktemp("elsewhere")
            write(strange / "people.csv", 15)
            other = connect("duckdb:", known.sources, base=strange, state=strange, limits=LIMITS)
            with other.hold(recipe(catalog(strange))):
                pass
            other.close()
            shutil.rmtree(made)
            shutil.copytree(snapshots(strange)[0], made)
        fresh = connect("duckdb:", known.sources, base=base, state=base, limits=LIMITS)
        with fresh.hold(recipe(known)) as held:
            assert count(held) == 10, damage
        fresh.close()


def test_old_snapshots_are_collected_unless_they_are_held(town):
    base, known, engine = town
    with engine.hold(recipe(known)) as held:
        (oldest,) = snapshots(base)
        for rows in range(20, 20 + NEWEST + 2):
            write(base / "people.csv", rows)
            engine.hold(recipe(known)).close()
        assert oldest in snapshots(base)
        assert len(snapshots(base)) == NEWEST + 1
        assert count(held) == 10
    write(base / "people.csv", 50)
    engine.hold(recipe(known)).close()
    assert oldest not in snapshots(base)
    assert len(snapshots(base)) == NEWEST


def test_a_settled_file_is_not_read_again(town, monkeypatch):
    base, known, engine = town
    old = time.time_ns() - 10**11
    monkeypatch.setattr(files, "_SETTLED", 0.0)
    os.utime(base / "people.csv", ns=(old, old))
    engine.hold(recipe(known)).close()

    def never(self, source, folder):
        raise AssertionError("read again")

    monkeypatch.setattr(ContentHashes, "copy", never)
    with engine.hold(recipe(known)) as held:
        assert count(held) == 10


def test_two_processes_may_make_the_same_one(tmp_path):
    write(tmp_path / "people.csv", 10)
    known = catalog(tmp_path)
    go = tmp_path / "go"

    def make(say):
        engine = connect("duckdb:", known.sources, base=tmp_path, state=tmp_path)
        say("ready")
        eventually(go.exists, "it may begin")
        with engine.hold(recipe(known)) as held:
            say(f"{held.fingerprints['town.people']} {count(held)}")
        engine.close()

    both = [forked(make) for _ in range(2)]
    for process in both:
        assert process.pipe.readline() == "ready\n"
    go.touch()
    (one,), (two,) = (process.lines() for process in both)
    assert one == two
    assert one.endswith(" 10")
    assert len(snapshots(tmp_path)) == 1


def test_a_process_killed_while_making_leaves_nothing_that_looks_finished(town):
    base, known, engine = town

    def begin(_say):
        place = base / "duckdb"
        SnapshotStore(place / "canon", state_key(place)).room().rows.write_bytes(b"half")
        os.kill(os.getpid(), signal.SIGKILL)

    child = forked(begin)
    assert child.lines() == []
    assert child.status == signal.SIGKILL
    assert list((base / "duckdb/canon").glob(".new-*"))
    with engine.hold(recipe(known)) as held:
        assert count(held) == 10
    assert not list((base / "duckdb/canon").glob(".new-*"))


def test_two_processes_draw_one_key(tmp_path):
    assert state_key(tmp_path) == state_key(tmp_path)
    assert (tmp_path / "key").stat().st_mode & 0o077 == 0
    one = SnapshotStore(tmp_path / "one", b"1" * 32)
    two = SnapshotStore(tmp_path / "two", b"2" * 32)
    assert one.name("a", "b") == one.name("a", "b") != two.name("a", "b")
    assert one.name("a", "b") != one.name("ab", "")


@pytest.mark.parametrize(
    ("person", "people"), [("identifier", 4), ("text", 4), ('integer", lower = 0, upper = "9', 0)]
)
def test_a_person_is_the_same_for_counting_and_joining(tmp_path, person, people):
    (tmp_path / "people.csv").write_text("person,age\n7,1\n07,2\n007,3\n8,4\n,5\n")
    text = TOML.format(source="people.csv", person="PERSON")
    written = 'type = "integer", lower = 0, upper = 9' if people == 0 else f'type = "{person}"'
    known = loads(text.replace('type = "PERSON"', written), base=tmp_path)
    engine = connect("duckdb:", known.sources, base=tmp_path, limits=LIMITS)
    with engine.hold(recipe(known)) as held:
        assert count(held, "COUNT(DISTINCT t.u)") == (people or 2)
        pairs = 'SELECT COUNT(*) AS n FROM canon."town.people" a JOIN canon."town.people" b ON a.u = b.u'
        found = int(open_exact(paid(held).run(pairs)).column("n")[0].as_py())
        assert found == (4 if people else 10)
    engine.close()


def test_people_go_by_one_kind_of_name_in_all_tables(tmp_path):
    """Integers in one table and texts in the other: 7 and '7' are the same person."""
    pq.write_table(pa.table({"person": [7, 8], "age": [1, 2]}), tmp_path / "people.parquet")
    (tmp_path / "more.csv").write_text("person,age\n7,3\n9,4\n")
    text = TOML.format(source="people.parquet", person="identifier")
    part = text[text.index("[datasets.town.tables") :]
    part = part.replace("tables.people", "tables.more").replace("people.parquet", "more.csv")
    known = loads(text + part, base=tmp_path)
    engine = connect("duckdb:", known.sources, base=tmp_path, limits=LIMITS)
    dataset = known.dataset("town")
    both = {f"town.{table.name}": CanonicalRecipe(dataset, table) for table in dataset.tables}
    with engine.hold(both) as held:
        sql = (
            'SELECT COUNT(*) AS n FROM canon."town.people" a JOIN canon."town.more" b ON a.u = b.u'
        )
        assert open_exact(paid(held).run(sql)).column("n").to_pylist() == [1]
    engine.close()
