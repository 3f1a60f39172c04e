"""The reference pages say what the code says: a page that is stale fails here."""

import importlib.util
import re
from pathlib import Path

import pytest

from discreet.curator import Curator

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)


@pytest.mark.parametrize("name", sorted(reference.PAGES))
def test_the_page_is_what_the_code_says(name):
    kept = (reference.FOLDER / name).read_text(encoding="utf-8")
    assert reference.PAGES[name]() == kept, "stale: run `make reference`"


@pytest.mark.parametrize(("name", "mark"), sorted(reference.TABLES))
def test_the_table_is_what_the_code_says(name, mark):
    kept = (reference.FOLDER.parent / name).read_text(encoding="utf-8")
    table = reference.TABLES[name, mark]()
    assert reference.with_table(kept, mark, table) == kept, "stale: run `make reference`"
    assert reference.with_table(kept, mark, table.partition(" | ")[2]) != kept


def test_every_page_is_known():
    assert sorted(path.name for path in reference.FOLDER.iterdir()) == sorted(reference.PAGES)


def test_a_name_without_a_docstring_would_be_seen():
    def bare():
        return None

    assert reference._line(bare) == ""
    empty = [line for line in reference.python_page().splitlines() if line.endswith("`: ")]
    assert empty == []


def test_results_are_found_by_return_annotations():
    found = reference.result_types({"discreet.Curator": Curator})
    assert {kind.__name__ for kind in found.values()} >= {"Trained", "Publication", "BoundsTrade"}
    assert "discreet.work.learn.classifier.Classifier" in found, "what a result holds"
    assert Curator not in found.values()
    assert not [
        name
        for name in found
        if name.startswith(("discreet.privacy.ledger", "discreet.data.engines"))
    ]
    assert reference.result_types({"discreet.name": print}) == {}
    page = reference.python_page()
    for name in ("Synthetic", "Trained", "Publication", "Outcome", "Audit", "RemoteSynthetic"):
        assert f".{name}\n" in page


def test_every_variable_of_the_environment_is_known():
    files = [
        *(ROOT / "src").rglob("*.py"),
        *(path for path in (ROOT / "scripts").iterdir() if path.stem != "reference_settings"),
        ROOT / "Makefile",
    ]
    used = set()
    for path in files:
        if path.is_file():
            used |= set(re.findall(r"\bDISCREET_[A-Z_]+\b", path.read_text(encoding="utf-8")))
    assert used == set(reference.settings.VARIABLES)


def test_a_setting_that_no_page_explains_is_noticed():
    text = "**`url`** says which. **`other`** is another."
    assert reference.settings._sentence(text, "url") == "`url` says which."
    with pytest.raises(SystemExit, match="nothing"):
        reference.settings._sentence(text, "nothing")


def test_no_setting_is_without_words():
    page = reference.PAGES["settings.md"]()
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) > 100
    assert [row for row in rows if row.endswith("|  |")] == []
