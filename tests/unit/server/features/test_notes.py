"""Notes as pages: all of them, nothing but text in them, and every link leads somewhere."""

import re
import tomllib
from pathlib import Path

import pytest

from discreet.errors import UnknownName
from discreet.server.features.docs.pages import HERE, all_notes, note, rendered_note

ROOT = Path(__file__).resolve().parents[4]
STATIC = HERE / "static"


def test_every_note_of_the_documentation_is_there():
    numbers = sorted(path.name[:4] for path in (ROOT / "docs" / "notes").glob("*.md"))
    assert list(all_notes()) == numbers
    assert note("0010").title == "What the worst-hit person has paid"
    assert not note("0001").title.startswith(":")


def test_the_wheel_takes_the_notes_along():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included["docs"] == "discreet/server/doc_files"


def test_each_mechanism_has_a_note_and_each_note_named_exists():
    script = (STATIC / "how.js").read_text(encoding="utf-8")
    named = set(re.findall(r'"(\d{4})"', script))
    assert {"0002", "0004", "0005", "0009", "0010", "0016"} <= named
    assert named <= set(all_notes())


@pytest.mark.parametrize("number", ["0000", "", "../0001", "0001-one-way", "00010"])
def test_there_is_no_other_note(number):
    with pytest.raises(UnknownName):
        note(number)


def test_markup_is_text_and_addresses_stay_here():
    text = """# 0099 A note
<script>alert(1)</script> and <b>bold</b>
[paper](https://elsewhere.example/x) [code](javascript:alert(1)) <https://elsewhere.example>
![picture](https://elsewhere.example/p.png) [other](0010-worst-hit-person.md#proof)

| a | b |
|--:|:-:|
| 1 | 2 |
"""
    found = rendered_note("0099", text)
    assert found.title == "A note"
    assert "<script" not in found.body
    assert "<b>" not in found.body
    assert "<img" not in found.body
    assert "style=" not in found.body
    assert re.findall(r'(?:href|src)="([^"]*)"', found.body) == ["/notes/0010"]
    assert "<td>1</td>" in found.body


def test_no_note_has_anything_that_the_content_policy_would_refuse():
    for found in all_notes().values():
        assert not re.search(
            r"<(?!/?(?:p|h[1-6]|em|strong|code|pre|a|[uo]l|li|br|hr|blockquote"
            r"|table|thead|tbody|t[rhd])\b)",
            found.body,
        ), found.name
        assert "style=" not in found.body
