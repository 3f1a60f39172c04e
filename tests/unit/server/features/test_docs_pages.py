"""The documentation as pages: every file is in the contents, every link leads somewhere."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from discreet.errors import UnknownName
from discreet.server.features.docs import pages
from discreet.server.features.docs.pages import (
    GROUPS,
    all_notes,
    doc,
    docs_folder,
    link_from,
    rendered,
)

ROOT = Path(__file__).resolve().parents[4]
NAMES = [name for names in GROUPS.values() for name in names]


def test_every_document_is_in_the_contents():
    folder = docs_folder()
    files = [*folder.glob("*.md"), *folder.glob("tutorials/*.md"), *folder.glob("reference/*.md")]
    found = {path.relative_to(folder).with_suffix("").as_posix() for path in files}
    assert found == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_link_of_a_document_leads_somewhere(name):
    shown = doc(name)
    assert shown.title
    assert "<script" not in shown.body
    for address in re.findall(r'href="([^"]*)"', shown.body):
        path, _, part = address.partition("#")
        if path.startswith("/notes/"):
            assert path.removeprefix("/notes/") in all_notes(), address
        elif path.startswith("/docs/"):
            target = path.removeprefix("/docs/")
            assert target in NAMES, address
            if part:
                assert f'id="{part}"' in doc(target).body, address
        elif path == "":
            assert f'id="{part}"' in shown.body, address
        else:
            assert path.startswith(("/course", "/lab")), address


@pytest.mark.parametrize(
    "name",
    ["", "../README", "notes/0001-x", "tutorials/../sql", "nothing", "/etc/passwd", "a" * 999],
)
def test_other_names_open_nothing(name):
    with pytest.raises(UnknownName):
        doc(name)


def test_addresses_that_lead_elsewhere_are_words():
    assert link_from("", "https://elsewhere.example") is None
    assert link_from("", "javascript:alert(1)") is None
    made = rendered("x", "# T\n\n[out](https://elsewhere.example) <b>x</b> ![p](p.png)")
    assert "elsewhere" not in made.body
    assert "&lt;b&gt;" in made.body
    assert "<img" not in made.body
    assert "p" in made.body


def test_pictures_are_those_of_the_documents():
    own = rendered("tutorials/x", '# T\n\n![The page](../images/ask.png "t")')
    assert '<img alt="The page" src="/docs/images/ask.png" loading="lazy"' in own.body
    for address in (
        "https://a.example/images/ask.png",
        "//a/images/ask.png",
        "../../images/ask.png",
    ):
        assert "<img" not in rendered("x", f"# T\n\n![w]({address})").body
    assert pages.picture("ask.png").is_file()
    for wrong in ("nothing.png", "../sql.md", "ask.png.md", "Ask.png", ".png"):
        with pytest.raises(UnknownName):
            pages.picture(wrong)


def test_every_picture_is_made_by_the_command_small_and_shown():
    spec = importlib.util.spec_from_file_location("shots", ROOT / "scripts" / "screenshots.py")
    shots = importlib.util.module_from_spec(spec)
    sys.modules["shots"] = shots  # dataclasses look their module up
    spec.loader.exec_module(shots)
    files = {path.stem: path for path in (ROOT / "docs" / "images").iterdir()}
    assert files.keys() == {shot.name for shot in shots.SHOTS}
    assert all(path.stat().st_size <= shots.LARGEST for path in files.values())
    assert sum(path.stat().st_size for path in files.values()) <= 1_500_000
    told = "".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))
    )
    assert [name for name in files if f"images/{name}.png)" not in told] == []


def test_documents_of_the_package_come_first(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "HERE", tmp_path)
    (tmp_path / "doc_files").mkdir()
    assert docs_folder() == tmp_path / "doc_files"
