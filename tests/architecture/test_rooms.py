"""The house is built as drawn, and the inspector notices when it is not."""

import gc
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import rooms

import discreet

HOUSE = Path(discreet.__file__).resolve().parent
CHECKS = [
    rooms.wrong_rooms,
    rooms.module_cycles,
    rooms.too_long,
    rooms.loose_dice,
    rooms.opened_exact,
    rooms.seeded_noise,
    rooms.wrong_menus,
    rooms.crowded,
    rooms.folder_circles,
    rooms.sibling_features,
    rooms.undescribed,
    rooms.shared_names,
    rooms.riddles,
]


@pytest.fixture(scope="module", autouse=True)
def uncollected():
    """Keep the trees of all files out of the collector's way: they are not garbage."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_house(check):
    assert check(HOUSE) == []


def test_the_table_has_no_circle_and_every_room_is_known():
    for room, allowed in rooms.ROOMS.items():
        assert room not in allowed
        assert allowed <= set(rooms.ROOMS)
    order: list[str] = []
    while len(order) < len(rooms.ROOMS):
        ready = [r for r in rooms.ROOMS if r not in order and rooms.ROOMS[r] <= set(order)]
        assert ready, "the table itself goes round in a circle"
        order += ready
    built = {rooms.room_of(file) for _, file in rooms.files(HOUSE)}
    assert built - {*rooms.ROOMS, "testing"} == rooms.STREETS
    for street in rooms.STREETS:  # nothing stands in a street but its rooms
        assert [each.name for each in (HOUSE / street).glob("*.py")] == ["__init__.py"]


BAD = {
    "a room that looks up": (
        "base/x.py",
        "from discreet.ask.release.pipeline import release_question",
    ),
    "a lazy import counts too": (
        "privacy/noise/x.py",
        "def f():\n    from discreet.privacy.ledger import Ledger",
    ),
    "a relative import": ("ask/plan/x.py", "from .ir import Scan"),
    "an unknown room": ("attic/x.py", "from discreet.base.numbers import plain"),
    "the package from inside": ("ask/plan/x.py", "from discreet import api"),
    "a long file": ("ask/plan/x.py", "def f():\n    return 1\n" + "# more\n" * 900),
    "a long function": ("ask/plan/x.py", "def f():\n" + "    x = 1\n" * 90),
    "dice": ("ask/release/x.py", "import random"),
    "dice by another name": ("ask/release/x.py", "from numpy import random as r"),
    "dice reached for": ("ask/release/x.py", "import numpy as np\nx = np.random.default_rng()"),
    "secrets": ("privacy/ledger/x.py", "from secrets import token_hex"),
    "an open result": ("ask/plan/x.py", "from discreet.data.engines.base import open_exact"),
    "a seed that becomes words": (
        "work/learn/x.py",
        "from discreet.privacy.kernel.rehearsal import words_for",
    ),
    "a seed's room": ("work/learn/x.py", "from discreet.privacy.kernel import rehearsal"),
    "words of its own": (
        "work/learn/x.py",
        "class R:\n    def words(self, count):\n        return [0] * count",
    ),
    "a seed in a request": ("curator/x.py", "def f(request):\n    return replace(request, seed=1)"),
    "a feature that knows another": (
        "server/features/one/x.py",
        "from discreet.server.features.two.y import z",
    ),
    "a feature that takes another whole": (
        "server/features/one/x.py",
        "from discreet.server.features import two",
    ),
    "a menu without a list": ("ask/plan/__init__.py", "from discreet.ask.plan.ir import Scan"),
    "a menu with another list": (
        "ask/plan/__init__.py",
        "from discreet.ask.plan.ir import Scan\n__all__ = ['Join']",
    ),
    "an unsorted menu": (
        "ask/plan/__init__.py",
        "from discreet.ask.plan.ir import Join, Scan\n__all__ = ['Scan', 'Join']",
    ),
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_what_is_wrong_is_found(case, tmp_path):
    file, text = BAD[case]
    (tmp_path / file).parent.mkdir(parents=True)
    for folder in (tmp_path / file).relative_to(tmp_path).parents:
        (tmp_path / folder / "__init__.py").write_text(DESCRIBED, encoding="utf-8")
    assert sum(len(check(tmp_path)) for check in CHECKS) == 0
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert sum(len(check(tmp_path)) for check in CHECKS) >= 1


def test_a_crowded_folder_and_a_circle_of_folders_are_found(tmp_path):
    for name in ("one", "two"):
        (tmp_path / "ask" / "plan" / name).mkdir(parents=True)
    one, two = tmp_path / "ask" / "plan" / "one", tmp_path / "ask" / "plan" / "two"
    (one / "a.py").write_text("from discreet.ask.plan.two.b import x", encoding="utf-8")
    (two / "b.py").write_text("x = 1", encoding="utf-8")
    (two / "c.py").write_text("from discreet.ask.plan.one.d import y", encoding="utf-8")
    (one / "d.py").write_text("y = 1", encoding="utf-8")
    assert rooms.module_cycles(tmp_path) == []
    assert len(rooms.folder_circles(tmp_path)) == 1
    assert rooms.crowded(tmp_path) == []
    for number in range(rooms.LARGEST_FOLDER):
        (one / f"x{number}.py").write_text("", encoding="utf-8")
    assert len(rooms.crowded(tmp_path)) == 1


def test_a_shared_name_is_found(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text("class Same:\n    pass\n", encoding="utf-8")
    assert rooms.shared_names(tmp_path) == ["Same: a.py b.py"]


def test_an_alias_shares_a_name_once_others_import_it(tmp_path):
    (tmp_path / "a.py").write_text("class Same:\n    pass\n", encoding="utf-8")
    for text in ("Same: TypeAlias = int\n", "Same = dict[str, int]\n"):
        (tmp_path / "b.py").write_text(text, encoding="utf-8")
        assert rooms.shared_names(tmp_path) == []
        (tmp_path / "c.py").write_text("from discreet.b import Same\n", encoding="utf-8")
        assert rooms.shared_names(tmp_path) == ["Same: a.py b.py"]
        (tmp_path / "c.py").unlink()


def test_a_riddle_is_found_as_a_name_and_nowhere_else(tmp_path):
    file = tmp_path / "a.py"
    for name in ("door", "_purses", "LearningDoor", "nice_bounds", "settle_wishes"):
        file.write_text(f"def f({name}):\n    pass\n", encoding="utf-8")
        assert rooms.riddles(tmp_path) == [f"a.py: {name}"]
    file.write_text("# Whichever door\nsaid = 'a door'\n", encoding="utf-8")
    assert rooms.riddles(tmp_path) == []


def test_a_circle_is_found(tmp_path):
    (tmp_path / "ask" / "plan").mkdir(parents=True)
    (tmp_path / "ask" / "plan" / "a.py").write_text(
        "from discreet.ask.plan.b import x", encoding="utf-8"
    )
    (tmp_path / "ask" / "plan" / "b.py").write_text(
        "from discreet.ask.plan import a", encoding="utf-8"
    )
    assert len(rooms.module_cycles(tmp_path)) == 2
    (tmp_path / "ask" / "plan" / "b.py").write_text("x = 1", encoding="utf-8")
    assert rooms.module_cycles(tmp_path) == []


DESCRIBED = '"""What is in here."""\n'


def test_a_good_house_passes(tmp_path):
    (tmp_path / "ask" / "plan").mkdir(parents=True)
    (tmp_path / "ask" / "__init__.py").write_text(DESCRIBED, encoding="utf-8")
    (tmp_path / "ask" / "plan" / "__init__.py").write_text(DESCRIBED, encoding="utf-8")
    good = "import numpy as np\nfrom discreet.privacy.account.price import price\n\n\ndef f():\n    return price\n"
    (tmp_path / "ask" / "plan" / "x.py").write_text(good, encoding="utf-8")
    assert [check(tmp_path) for check in CHECKS] == [[]] * len(CHECKS)


def test_the_menu_is_lazy_and_complete():
    assert sorted(discreet.__all__) == list(discreet.__all__)
    for name in discreet.__all__:
        assert getattr(discreet, name) is not None
        assert name in dir(discreet)
    with pytest.raises(AttributeError):
        discreet.nothing  # noqa: B018  # the point is that it is not there


PAGE = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"
NAMED = re.compile(r"`([\w/]+)/`")


def wrong_map(text: str, root: Path) -> list[str]:
    """Return the rooms and folders in which the map of CONTRIBUTING.md and the tree differ."""
    table = text.partition("## The map")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| `")]
    mapped = {room: row for row in rows for room in NAMED.findall(row[0])}
    found = [f"{room}: in one of the two" for room in sorted(mapped.keys() ^ set(_rooms(root)))]
    for row in rows:
        there = {name for room in NAMED.findall(row[0]) for name in _folders(root / room)}
        found += [f"{row[0].strip()} {name}/" for name in sorted(there ^ {*NAMED.findall(row[2])})]
    return found


def _folders(root: Path) -> list[str]:
    return [path.parent.name for path in root.glob("*/__init__.py")]


def _rooms(root: Path) -> list[str]:
    alone = [each for each in _folders(root) if each not in rooms.STREETS]
    return alone + [
        f"{street}/{each}" for street in rooms.STREETS for each in _folders(root / street)
    ]


def test_the_map_names_every_room_and_every_folder_below_one():
    assert wrong_map(PAGE.read_text(encoding="utf-8"), HOUSE) == []


def test_a_map_of_another_house_is_found(tmp_path):
    for folder in ("base", "base/requests", "ask", "ask/sql", "ask/sql/write", "show", "testing"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text(DESCRIBED, encoding="utf-8")
    true = (
        "## The map\n\n| room | what | folders |\n|---|---|---|\n| `base/` | words | `requests/` asked |\n"
        "| `ask/sql/` | text | `write/` back |\n| `show/` `testing/` | the rest | |\n\n## Recipes\n"
    )
    assert wrong_map(true, tmp_path) == []
    assert wrong_map(true.replace("`write/` back", ""), tmp_path) == ["`ask/sql/` write/"]
    assert wrong_map(true.replace("`write/`", "`write/` `read/`"), tmp_path) == ["`ask/sql/` read/"]
    assert wrong_map(true.replace("| `ask/sql/` | text | `write/` back |\n", ""), tmp_path) == [
        "ask/sql: in one of the two"
    ]
    assert wrong_map(true.replace("`testing/`", "`attic/`"), tmp_path) == [
        "attic: in one of the two",
        "testing: in one of the two",
    ]
