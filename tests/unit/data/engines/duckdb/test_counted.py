"""What a snapshot keeps: plain counts, the same as counting for as long as it is the same rows, and sorted rows."""

from __future__ import annotations

import json
import random

import pytest

from discreet.data.catalog.policy_file import loads
from discreet.data.engines.base import EngineLimits, open_exact
from discreet.data.engines.connect import connect
from discreet.data.engines.duckdb import canonical
from discreet.privacy.kernel.canonical import CanonicalRecipe
from permits import paid

LIMITS = EngineLimits(seconds=20.0, memory_mb=512, threads=1, workers=2)
TOML = """
[datasets.town]
epsilon = 10
[datasets.town.tables.people]
source = "people.csv"
{how}
[datasets.town.tables.people.columns]
person = {{ type = "identifier" }}
age = {{ type = "integer", lower = 0, upper = 120 }}
"""
HOWS = {
    "rows": 'unit = "row"',
    "people": 'unit = "person"\nmax_rows = 2',
    "bounded": 'unit = "person"\nmax_rows = 2\nbound = "table"',
    "bounded at one": 'unit = "person"\nmax_rows = 1\nbound = "table"',
}


def write(base, rows, seed=0):
    dice = random.Random(seed)
    lines = [f"{dice.choice(['', *'abcde'])},{dice.randrange(150)}" for _ in range(rows)]
    (base / "people.csv").write_text("\n".join(["person,age", *lines, ""]))


@pytest.fixture
def opened(tmp_path):
    engines = []

    def opened(how):
        known = loads(TOML.format(how=HOWS[how]), base=tmp_path)
        state = tmp_path / "state"
        engines.append(connect("duckdb:", known.sources, base=tmp_path, state=state, limits=LIMITS))
        table = CanonicalRecipe(known.dataset("town"), known.table("people"))
        return engines[-1], table

    yield opened
    for engine in engines:
        engine.close()


def number(held, sql):
    ((found,),) = [column.to_pylist() for column in open_exact(paid(held).run(sql)).columns]
    return found


def counted_anew(sql):
    """Return the same question in other letters, which nobody foresaw."""
    return sql.replace("t0", "t1")


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("rows", [0, 1, 40])
def test_a_kept_count_is_the_count(opened, tmp_path, how, rows):
    write(tmp_path, rows)
    engine, table = opened(how)
    with engine.hold({"town.people": table}) as held:
        ((asked, _),) = table.foreseen("t").items()
        assert number(held, asked) == number(held, counted_anew(asked))


def test_another_content_has_another_count(opened, tmp_path):
    write(tmp_path, 40)
    engine, table = opened("rows")
    (asked,) = table.foreseen("t")
    with engine.hold({"town.people": table}) as before:
        write(tmp_path, 50, seed=1)
        with engine.hold({"town.people": table}) as after:
            assert (number(before, asked), number(after, asked)) == (40, 50)


def test_nobody_is_asked_for_it(opened, tmp_path, monkeypatch):
    write(tmp_path, 40)
    engine, table = opened("rows")
    with engine.hold({"town.people": table}) as held:
        (asked,) = table.foreseen("t")
        monkeypatch.setattr(held, "_lend", None)
        assert number(held, asked) == 40
        with pytest.raises(TypeError):
            number(held, counted_anew(asked))


def test_a_count_that_somebody_wrote_is_not_believed(opened, tmp_path):
    write(tmp_path, 40)
    engine, table = opened("rows")
    (asked,) = table.foreseen("t")
    engine.hold({"town.people": table}).close()
    (about,) = (tmp_path / "state").rglob("about.json")
    said = json.loads(about.read_text())
    said["counted"][asked] = 7
    about.chmod(0o600)
    about.write_text(json.dumps(said))
    with engine.hold({"town.people": table}) as held:
        assert number(held, asked) == 40


def test_only_what_every_table_is_asked_is_parsed_once(opened, tmp_path, monkeypatch):
    write(tmp_path, 40)
    engine, table = opened("rows")
    (asked,) = table.foreseen("t")
    other = counted_anew(asked)
    engine.hold({"town.people": table}).close()
    first = engine.tree(asked), engine.tree(other)
    monkeypatch.setattr(engine, "_lend", None)
    assert engine.tree(asked) == first[0]
    with pytest.raises(TypeError):
        engine.tree(other)


@pytest.mark.parametrize("fits", [True, False])
def test_rows_are_sorted_by_their_gaps_where_the_file_fits_into_memory(
    opened, tmp_path, monkeypatch, fits
):
    """Sorted or not, all rows are there."""
    ages = [i if i % 3 else "" for i in range(90)]
    source = tmp_path / "people.csv"
    source.write_text("\n".join(["person,age", *(f"a,{age}" for age in ages), ""]))
    most = (LIMITS.memory_mb << 20) // source.stat().st_size
    monkeypatch.setattr(canonical, "SORTED_TIMES", most if fits else most + 1)
    engine, table = opened("rows")
    with engine.hold({"town.people": table}) as held:
        rows = (
            open_exact(paid(held).run('SELECT c1 FROM canon."town.people"')).column(0).to_pylist()
        )
    gaps = [row is None for row in rows]
    assert (gaps == sorted(gaps)) is fits
    assert sorted(row for row in rows if row is not None) == [i for i in range(90) if i % 3]
