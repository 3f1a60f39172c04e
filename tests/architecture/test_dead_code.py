"""What nothing leads to is found: behind another thing of its name, behind a menu, and as a whole module."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import dead_code

USED = """
TRIES = 3


def tried() -> int:
    return TRIES
"""
RUN = """
from discreet.room.used import tried


def main() -> int:
    return tried()
"""


@pytest.fixture
def house(tmp_path, monkeypatch):
    """Return a function that writes a file of a small package, of which everything is used."""
    monkeypatch.setattr(dead_code, "ROOT", tmp_path)

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    for folder in ("src/discreet", "src/discreet/cli", "src/discreet/room"):
        write(f"{folder}/__init__.py", "")
    write("src/discreet/cli/__init__.py", "from discreet.cli.run import main\n")
    write("src/discreet/cli/run.py", RUN)
    write("src/discreet/room/used.py", USED)
    assert dead_code.unreached() == []
    return write


def test_a_dead_name_is_found_behind_a_living_one_of_the_same_name(house):
    house("src/discreet/room/used.py", USED + "\n\ndef main() -> None:\n    main()\n")
    assert dead_code.unreached() == ["src/discreet/room/used.py:9 main"]


def test_what_only_a_menu_hands_on_is_dead(house):
    more = "\n\nclass Odd:\n    def after(self) -> 'Odd':\n        return Odd()\n"
    house("src/discreet/room/used.py", USED + more)
    menu = "from discreet.room.used import Odd, tried\n\n__all__ = ['Odd', 'tried']\n"
    house("src/discreet/room/__init__.py", menu)
    assert dead_code.unreached() == ["src/discreet/room/used.py:9 Odd"]
    # Through the menu is used, too.
    house(
        "src/discreet/cli/run.py",
        RUN.replace("tried\n\n", "tried\nfrom discreet.room import Odd\n\n") + "\n\nOdd()\n",
    )
    assert dead_code.unreached() == []


def test_a_module_that_nothing_imports_is_dead_with_what_it_alone_uses(house):
    house("src/discreet/room/lonely.py", "from discreet.room.helper import help_it\n\nhelp_it()\n")
    house("src/discreet/room/helper.py", "def help_it() -> None:\n    pass\n")
    house("src/discreet/room/__init__.py", "from discreet.room import lonely\n")
    found = [f"src/discreet/room/{name}.py:1 the whole module" for name in ("helper", "lonely")]
    assert dead_code.unreached() == found


def test_what_a_document_imports_or_a_table_names_is_used(house):
    house("src/discreet/room/shown.py", "def shown() -> None:\n    pass\n")
    house("src/discreet/room/named.py", "def chosen() -> None:\n    pass\n")
    house("docs/notes/0001-old.md", "from discreet.room.shown import shown\n")
    assert len(dead_code.unreached()) == 2
    house("docs/page.md", "```python\nfrom discreet.room.shown import shown\n```\n")
    table = '\nHOMES = {"chosen": ("discreet.room.named", "chooses")}\n\n\ndef of() -> object:\n    return HOMES\n'
    house("src/discreet/cli/run.py", RUN.replace("tried()", "tried() + len(HOMES)") + table)
    assert dead_code.unreached() == ["src/discreet/cli/run.py:11 of"]
