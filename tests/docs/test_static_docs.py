"""The documents as a folder: every link of every page leads to a file and a heading that are there."""

import importlib.util
import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("static_docs", ROOT / "scripts" / "static_docs.py")
static_docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(static_docs)


class Seen(HTMLParser):
    """What a page leads to or loads, and the names of its parts."""

    def __init__(self, text):
        super().__init__()
        self.leads, self.names, self.tags = [], set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            if name in ("href", "src"):
                self.leads.append(value)
            elif name == "id":
                self.names.add(value)


def broken(folder):
    """Return every link that leads nowhere, as (page, address)."""
    seen = {
        path.relative_to(folder).as_posix(): Seen(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.html")
    }
    wrong = []
    for place, page in seen.items():
        for address in page.leads:
            path, _, part = address.partition("#")
            file = (
                posixpath.normpath(posixpath.join(posixpath.dirname(place), path))
                if path
                else place
            )
            there = (folder / file).is_file() and not re.match(r"[a-z]+:|/", address)
            if not there or (part and part not in seen[file].names):
                wrong.append((place, address))
    return wrong


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("static")
    assert static_docs.export(made) > 100
    return made


def test_every_link_holds(folder):
    assert broken(folder) == []


def test_every_document_is_there(folder):
    for path in (ROOT / "docs").rglob("*.md"):
        name = path.relative_to(ROOT / "docs").with_suffix("").as_posix()
        if name.startswith("notes/"):
            name = name[:10]
        if not name.startswith(("bench/", "evidence/")):
            assert (folder / f"{name}.html").is_file(), name


def test_nothing_comes_from_elsewhere(folder):
    for path in folder.rglob("*.html"):
        assert not Seen(path.read_text(encoding="utf-8")).tags & {"script", "iframe", "style"}
    for path in folder.rglob("*.css"):
        assert re.findall(r"@import|url\(\s*['\"]?(?:https?:)?//", path.read_text()) == []


def test_a_broken_link_would_be_seen(tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="here">x</h1><a href="#here">1</a><a href="#there">2</a><a href="b.html">3</a>'
        '<a href="/docs/sql">4</a><img src="https://example.org/x.png">'
    )
    found = {address for _, address in broken(tmp_path)}
    assert found == {"#there", "b.html", "/docs/sql", "https://example.org/x.png"}
