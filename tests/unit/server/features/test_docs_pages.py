"""The documentation as pages: every file is in the contents, every link leads somewhere."""

import re

import pytest

from discreet.errors import UnknownName
from discreet.server.features.docs import reading
from discreet.server.features.docs.reading import GROUPS, doc, docs_folder, link_from, rendered
from discreet.server.notes import all_notes

NAMES = [name for names in GROUPS.values() for name in names]
NOT_SHOWN = {"benchmarks"}  # figures of a machine, for those who have the repository


def test_every_document_is_in_the_contents():
    folder = docs_folder()
    files = [*folder.glob("*.md"), *folder.glob("tutorials/*.md"), *folder.glob("reference/*.md")]
    found = {path.relative_to(folder).with_suffix("").as_posix() for path in files}
    assert found - NOT_SHOWN == set(NAMES)


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
            assert target in {*NAMES, *NOT_SHOWN}, address
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


def test_documents_of_the_package_come_first(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "HERE", tmp_path)
    (tmp_path / "doc_files").mkdir()
    assert docs_folder() == tmp_path / "doc_files"
