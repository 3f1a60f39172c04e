"""Each folder says who imports it, and says it truly; `make reference` writes the sentences."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import importers

HOUSE = importers.HOUSE


def test_every_folder_says_who_imports_it():
    assert importers.wrong_sentences(HOUSE) == []


FOLDERS = {
    "plan": "The tree.\n\nImported by: release, sql.\n",
    "plan/rules": "Its rules.\n\nImported by: plan, plan/shapes.\n",
    "plan/shapes": "Its shapes.",
    "sql": "Text.\n\nImported by: discreet.\n",
    "release": "From request to answer.",
}
FILES = {
    "__init__.py": 'MENU = {"parse": "discreet.sql.parse"}\n',
    "plan/ir.py": "from discreet.plan.rules import clip\n",
    "plan/rules/clip.py": "x = 1\n",
    "plan/shapes/square.py": "import discreet.plan.rules.clip\n",
    "sql/parse.py": "def f():\n    from discreet.plan import ir\n",
    "release/run.py": 'CHILD = "discreet.plan.ir:main"\n',
}
BROKEN = {
    "somebody is left out": ("plan", "release, sql", "sql"),
    "somebody is made up": ("sql", "discreet", "discreet, kernel"),
    "a sibling is left out": ("plan/rules", "plan, plan/shapes", "plan"),
    "the sentence is missing": ("plan", "\n\nImported by: release, sql.", ""),
    "nobody imports it": ("plan/shapes", "shapes.", "shapes.\n\nImported by: plan."),
    "other words for it": ("plan/shapes", "shapes.", "shapes. Only plan/ imports from here."),
    "who may": ("plan/shapes", "shapes.", "shapes. Every room may import it."),
}


def house(root, folders):
    for folder, said in folders.items():
        (root / folder).mkdir()
        (root / folder / "__init__.py").write_text(f'"""{said}"""\n', encoding="utf-8")
    for file, text in FILES.items():
        (root / file).write_text(text, encoding="utf-8")


def test_a_true_house_passes(tmp_path):
    house(tmp_path, FOLDERS)
    assert importers.wrong_sentences(tmp_path) == []


@pytest.mark.parametrize("fault", BROKEN)
def test_a_false_sentence_is_found(tmp_path, fault):
    folder, true, false = BROKEN[fault]
    assert true in FOLDERS[folder]
    house(tmp_path, FOLDERS | {folder: FOLDERS[folder].replace(true, false)})
    assert [each.partition(":")[0] for each in importers.wrong_sentences(tmp_path)] == [folder]


def test_the_script_writes_what_the_check_asks_for(tmp_path, monkeypatch):
    house(tmp_path, {folder: said.partition("\n")[0] for folder, said in FOLDERS.items()})
    assert importers.wrong_sentences(tmp_path) != []
    monkeypatch.setattr(importers, "HOUSE", tmp_path)
    importers.main()
    assert importers.wrong_sentences(tmp_path) == []
    for folder, said in FOLDERS.items():
        assert (tmp_path / folder / "__init__.py").read_text() == f'"""{said}"""\n'
    (tmp_path / "sql" / "parse.py").write_text("x = 1\n")
    importers.main()
    assert importers.importers(tmp_path)["plan"] == ["release"]
    assert importers.wrong_sentences(tmp_path) == []


def test_a_folder_of_many_rooms_names_none():
    names = [f"room{i}" for i in range(importers.MANY)]
    assert importers.sentence("core", names) == "Imported by: many rooms."
    assert importers.sentence("core", names[1:]) == f"Imported by: {', '.join(names[1:])}."
    assert (
        importers.sentence("room0/a", [f"room0/{name}" for name in names]).count("room0/")
        == importers.MANY
    )
