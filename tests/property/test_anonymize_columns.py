"""Whatever the table: no value of a column that was not named, or is hidden, is in anything that an anonymization writes."""

from __future__ import annotations

import csv
import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

import discreet
from discreet.anonymize import release as release_steps
from discreet.anonymize import run as run_steps
from discreet.anonymize.run import ColumnRoles, roles_of
from discreet.cli.app import run as run_command
from discreet.curator import open as open_curator
from discreet.errors import DiscreetError, InvalidInput
from discreet.server.features.anonymize import in_child
from discreet.server.features.anonymize.pages import AnonymizeBody
from sittings import examples

ROWS, SCHEMAS = 24, examples(24)
CANARY = "canary"
ROLES = ("quasi", "sensitive", "keep", "redact", None)


@dataclass
class Schema:
    """A random table: the role that is asked for each column, and what the owner has declared of it."""

    roles: dict[str, str | None]
    hidden: set[str]
    undeclared: set[str]
    person: str | None
    source: str = "people.csv"
    budget: bool = True
    cells: dict[str, list[str]] = field(default_factory=dict)

    def named(self, role):
        return [name for name, given in self.roles.items() if given == role]

    @property
    def published(self):
        return [name for name, role in self.roles.items() if role in ("quasi", "sensitive", "keep")]

    @property
    def closed(self):
        return self.hidden | ({self.person} if self.person else set())

    @property
    def refused(self):
        return bool(self.closed & set(self.published))

    def asked(self):
        found = {"quasi": self.named("quasi"), "keep": self.named("keep")}
        found |= {"redact": self.named("redact"), "k": 3, "suppress": 1.0}
        sensitive = self.named("sensitive")
        return found | ({"sensitive": sensitive[0]} if sensitive else {})


def random_schema(dice, *, valid):
    """Return a schema; `valid` ones publish no column that is hidden."""
    names = [f"c{i}" for i in range(dice.randint(3, 7))]
    dice.shuffle(names)
    roles: dict[str, str | None] = {name: dice.choice(ROLES) for name in names}
    roles[names[0]] = "quasi"
    for name in [n for n in names if roles[n] == "sensitive"][1:]:
        roles[name] = None
    rest = [name for name in names if not valid or roles[name] in ("redact", None)]
    hidden = {name for name in rest if dice.random() < 0.5}
    open_names = [name for name in names if name not in hidden]
    undeclared = {name for name in open_names if dice.random() < 0.3}
    person = dice.choice([None, *(name for name in rest if name not in hidden | undeclared)])
    found = Schema(roles, hidden, undeclared, person)
    found.source = dice.choice(["people.csv", "*.csv", "./people.csv"])
    found.budget = dice.random() < 0.7
    found.cells = {name: cells(dice, name, found) for name in names}
    return found


def cells(dice, name, schema):
    """Return what stands in a column: canaries where it must not leave, as words and in numbers alike."""
    if name in schema.published and name not in schema.closed:
        return [dice.choice(["a", "b", "c"]) for _ in range(ROWS)]
    if name == schema.person:
        return [f"{CANARY}-{name}-{i}" for i in range(ROWS)]
    if dice.random() < 0.3:
        return [str(777_000_000 + dice.randrange(99_999)) for _ in range(ROWS)]
    return [f"{CANARY}-{name}-{dice.randrange(5)}" for _ in range(ROWS)]


def write_world(folder, schema):
    folder.mkdir(parents=True)
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(schema.cells)
        writer.writerows(zip(*schema.cells.values(), strict=True))
    unit = f'"{schema.person}"\nmax_rows = 1' if schema.person else '"row"'
    lines = ["[datasets.town]", *(["epsilon = 1"] if schema.budget else [])]
    lines += ["[datasets.town.tables.people]", f'source = "{schema.source}"', f"unit = {unit}"]
    lines.append("[datasets.town.tables.people.columns]")
    for name in schema.cells:
        if name not in schema.undeclared and name != schema.person:
            hidden = ", hidden = true" if name in schema.hidden else ""
            lines.append(f'{name} = {{ type = "text"{hidden} }}')
    (folder / "discreet.toml").write_text("\n".join(lines) + "\n")
    return folder / "discreet.toml"


def by_command(place, asked, capsys):
    words = [str(place.parent / "people.csv"), "--json"]
    words += ["--out", str(place.parent / "out.csv"), "--report", str(place.parent / "why.html")]
    for name, value in asked.items():
        text = ",".join(value) if isinstance(value, list) else str(value)
        words += [f"--{name}", text] if text else []
    status = run_command(["anonymize", *words])
    said = capsys.readouterr()
    if status:
        raise InvalidInput(said.err)
    found = json.loads(said.out)
    (place.parent / "said.json").write_text(said.out)
    return found, list(csv.DictReader((place.parent / "out.csv").read_text().splitlines()))


def by_function(place, asked, _capsys):
    made = discreet.anonymize(
        place.parent / "people.csv",
        out=place.parent / "out.parquet",
        report=place.parent / "why.json",
        **asked,
    )
    (place.parent / "said.txt").write_text(f"{made!r}{made.words()}{made._repr_html_()}")
    return made.to_json(), pq.read_table(place.parent / "out.parquet").to_pylist()


def by_curator(place, asked, _capsys):
    with open_curator(place) as curator:
        made = curator.anonymize("people", **asked)
    (place.parent / "said.txt").write_text(f"{made!r}{made.to_json()}{made.table.to_pylist()}")
    return made.to_json(), made.table.to_pylist()


def by_server(place, asked, _capsys):
    """Return what the child process of the server keeps of a body: rows, reports and the page's part."""
    request = AnonymizeBody(table="people", **asked).checked()
    scratch = place.parent / "scratch"
    scratch.mkdir()
    with open_curator(place) as curator:
        bench = SimpleNamespace(curator=lambda: curator, advance=lambda *_: None, folder=scratch)
        state = place.parent / "state"
        found = in_child.make(bench, state=state, table="people", where=None, request=request)
    (place.parent / "said.json").write_text(json.dumps(found))
    (rows,) = state.glob("**/rows.csv")
    return found, list(csv.DictReader(rows.read_text().splitlines()))


DOORS = [by_command, by_function, by_curator, by_server]
NEED_BUDGET = (by_curator, by_server)
"""An unfinished table can be copied by its file only."""


def problems(door, place, schema, capsys):
    """Return what is wrong with a copy that a door makes, or with its not making one."""
    before = set(place.parent.rglob("*"))
    try:
        said, rows = door(place, schema.asked(), capsys)
    except DiscreetError as error:
        written = {p for p in place.parent.rglob("*.*") if p.suffix != ".db"} - before
        names = {path.name for path in written if path.is_file() and ".discreet" not in path.parts}
        left = names & {"out.csv", "out.parquet", "why.html", "why.json", "rows.csv", "said.json"}
        return [*([f"refused: {error}"] if not schema.refused else []), *left]
    found = ["not refused"] if schema.refused else []
    if rows and sorted(rows[0]) != sorted(schema.published):
        found.append(f"columns {list(rows[0])}")
    if sorted(said["left_out"]) != sorted(set(schema.roles) - set(schema.published)):
        found.append(f"left out {said['left_out']}")
    wrong = [name for name in schema.closed if name not in said["left_out"]]
    return found + wrong + [p.name for p in written_files(place.parent) if canary_in(p)]


def written_files(folder):
    """Return everything that is written but what the owner has, and the engine's own snapshot of it."""
    own = {folder / "people.csv", folder / "discreet.toml"}
    files = (path for path in folder.rglob("*") if path.is_file() and path not in own)
    return [path for path in files if ".discreet" not in path.relative_to(folder).parts]


def canary_in(path: Path):
    if path.suffix == ".parquet":
        text = json.dumps(pq.read_table(path).to_pylist(), default=str)
    else:
        text = path.read_bytes().decode(errors="replace")
    return CANARY in text or re.search(r"(?<![\d.])777,?0\d\d,?\d{3}", text) is not None


@pytest.mark.parametrize("door", DOORS)
def test_no_column_leaves_that_was_not_named(door, tmp_path, capsys):
    dice = random.Random(f"columns {door.__name__}")
    for number in range(SCHEMAS):
        schema = random_schema(dice, valid=number % 3 > 0)
        schema.budget = schema.budget or door in NEED_BUDGET
        place = write_world(tmp_path / str(number), schema)
        assert problems(door, place, schema, capsys) == [], schema


@pytest.mark.parametrize("door", DOORS)
def test_the_twin_that_copies_what_is_left_is_caught(door, tmp_path, capsys, monkeypatch):
    def copy_through(source, request):
        try:
            found = roles_of(source, request)
        except InvalidInput:
            return ColumnRoles(source.named(request.quasi), None, source.named(request.keep), {})
        kept = tuple(name for name in found.left_out if name not in request.redact)
        out = dict.fromkeys(request.redact, "redacted")
        return ColumnRoles(found.quasi, found.sensitive, (*found.kept, *kept), out)

    for module in (run_steps, release_steps):
        monkeypatch.setattr(module, "roles_of", copy_through)
    dice = random.Random(f"twin {door.__name__}")
    caught = 0
    for number in range(SCHEMAS // 2):
        schema = random_schema(dice, valid=True)
        schema.budget = True
        place = write_world(tmp_path / str(number), schema)
        through = [n for n in schema.roles if n not in schema.published + schema.named("redact")]
        wrong = problems(door, place, schema, capsys)
        assert bool(wrong) == bool(through), (schema, wrong)
        caught += bool(wrong)
    assert caught
