from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from discreet.errors import InvalidInput, UnknownName
from discreet.lab.town import TABLES, town
from patience import slowness


def test_the_same_seed_writes_the_same_bytes(tmp_path):
    options = {"ratings": 20_000, "genotypes": 50, "loci": 100, "patients": 100}
    first = town(5_000, folder=tmp_path / "a", **options)
    again = town(5_000, folder=tmp_path / "b", **options)
    other = town(5_000, folder=tmp_path / "c", seed=1, **options)
    names = sorted(file.name for file in first.folder.iterdir())
    assert names == sorted([
        "discreet.toml", "dosing.parquet", "genotypes.npy", "people.parquet", "ratings.parquet",
        "regions.parquet", "town.json", "visits.parquet", "voters.parquet", "voters_key.parquet",
    ])  # fmt: skip
    for name in names:
        written = (first.folder / name).read_bytes()
        assert written == (again.folder / name).read_bytes(), name
        same = name in {"discreet.toml", "regions.parquet"}
        assert (written == (other.folder / name).read_bytes()) is same, name


def test_leaving_tables_out_changes_no_row(tmp_path, small_town):
    for tables in (("people",), ("visits",)):
        part = town(20_000, folder=tmp_path / tables[0], tables=tables)
        assert part.load(tables[0]).equals(small_town.load(tables[0]))
    assert not (tmp_path / "visits" / "people.parquet").exists()


def test_shapes(small_town):
    assert small_town.load("people").num_rows == 20_000
    assert 55_000 < small_town.load("visits").num_rows < 66_000
    assert small_town.load("ratings").num_rows == 200_000
    assert small_town.load("dosing").num_rows == 5_000
    assert small_town.load("regions").num_rows == 50
    assert small_town.genotypes().shape == (600, 2_000)
    assert small_town.allele_frequencies().shape == (2_000,)
    voters = small_town.load("voters").num_rows
    assert voters == small_town.load("voters_key").num_rows
    assert small_town.truth["zip_codes"] == 2


def test_a_town_of_one(tmp_path):
    hermit = town(1, folder=tmp_path, ratings=1, genotypes=1, loci=1, patients=1)
    assert hermit.load("people").num_rows == 1
    assert hermit.load("visits").num_rows >= 0
    assert hermit.load("voters").num_rows <= 1


def test_more_people_come_in_several_chunks(tmp_path):
    large = town(300_000, folder=tmp_path, tables=("people",))
    ids = large.load("people")["person_id"].to_numpy()
    assert ids[0] == 1
    assert (ids[1:] - ids[:-1] == 1).all()
    assert len(ids) == 300_000
    ages = large.load("people")["age"].to_numpy()
    assert not (ages[:50_000] == ages[250_000:]).all()


def test_a_complete_town_is_found_again_and_its_policy_left_alone(tmp_path):
    options = {"folder": tmp_path, "tables": ("dosing",)}
    first = town(100, **options)
    first.toml.write_text(first.toml.read_text().replace("epsilon = 1.0", "epsilon = 2.0"))
    written = (tmp_path / "dosing.parquet").stat().st_mtime_ns
    assert town(100, **options) == first
    assert "epsilon = 2.0" in first.toml.read_text()
    assert (tmp_path / "dosing.parquet").stat().st_mtime_ns == written
    with pytest.raises(InvalidInput, match="already holds"):
        town(101, **options)


def test_an_unfinished_town_is_finished(tmp_path):
    options = {"folder": tmp_path, "tables": ("dosing",)}
    first = town(100, **options)
    (tmp_path / "town.json").unlink()
    (tmp_path / "dosing.parquet").unlink()
    assert town(100, **options) == first
    assert first.load("dosing").num_rows == 5_000
    assert not list(tmp_path.glob("*.part"))


def test_somebody_elses_folder_is_refused_and_left_alone(tmp_path):
    (tmp_path / "discreet.toml").write_text("# mine\n")
    with pytest.raises(InvalidInput, match="already holds"):
        town(100, folder=tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["discreet.toml"]


@pytest.mark.parametrize(
    "wrong", [{"people": 0}, {"seed": -1}, {"tables": ("cats",)}, {"tables": ()}, {"ratings": 0}]
)
def test_nonsense_is_refused_before_anything_is_written(tmp_path, wrong):
    with pytest.raises(InvalidInput):
        town(**{"people": 10, "folder": tmp_path / "x", **wrong})
    assert not (tmp_path / "x").exists()


def test_unknown_tables(tmp_path, small_town):
    with pytest.raises(UnknownName, match="cats"):
        small_town.load("cats")
    part = town(100, folder=tmp_path, tables=("dosing",))
    with pytest.raises(UnknownName, match="genotypes"):
        part.genotypes()
    assert set(part.tables) == {"dosing"}
    assert set(TABLES) - {"genotypes"} <= set(small_town.tables)


_MEMORY = """
import sys
from pathlib import Path
from discreet.lab.town.town_files import town
from discreet.lab.town.columns import chunks
from discreet.lab.town.people import make_people

SIZE = 125_000  # half of the usual, in half of the time
chunks.__defaults__ = (SIZE,)

def peak_mb():
    status = Path("/proc/self/status").read_text().split()
    return int(status[status.index("VmHWM:") + 1]) // 1024

town(2 * SIZE, folder=sys.argv[1] + "/two", tables=("people",))
two_chunks = peak_mb()
town(5 * SIZE, folder=sys.argv[1] + "/five", tables=("people",))
five_chunks = peak_mb()
leak = [make_people(0, chunk, 0, SIZE, town_size=1) for chunk in range(12)]
print(two_chunks, five_chunks, peak_mb())
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's peak memory")
def test_memory_does_not_grow_with_the_town(tmp_path):
    # A process of its own: the peak of this one was reached long ago.
    command = [sys.executable, "-c", _MEMORY, str(tmp_path)]
    # What is freed goes back to the system at once: the peak is not one of the allocator's habits.
    plain = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=plain)
    printed = done.stdout
    two_chunks, five_chunks, kept = map(int, printed.split())
    # 12 chunks are kept at the end. A town that kept its three further ones would add a quarter of that.
    assert kept - two_chunks > 80, "this test could not have caught a leak"
    assert five_chunks - two_chunks < (kept - two_chunks) / 6


@pytest.mark.slow
def test_a_million_people_with_visits_take_under_twenty_seconds(tmp_path):
    begin = time.process_time()
    town(1_000_000, folder=tmp_path, tables=("people", "visits"))
    assert time.process_time() - begin < 20 * slowness()
