"""Reports as pages: whole by themselves, and without anything that could act."""

import re
import sys
from html.parser import HTMLParser

import pytest

from discreet.errors import MissingExtra
from discreet.show import Document, Figure, Grid, Paragraph, Section, bars, to_fragment, to_html
from discreet.show.document import shown

HOSTILE = """<script>alert(1)</script><img src=x onerror=alert(1)>"'&"""


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.attributes, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        self.attributes += [(tag, *attr) for attr in attrs]

    def handle_data(self, data):
        self.text.append(data)


def hostile(warning=HOSTILE):
    chart = bars([HOSTILE, "b"], [1, 2], low=[0, 1], high=[2, 3], title=HOSTILE, across=HOSTILE)
    return Document(
        HOSTILE,
        HOSTILE,
        warning,
        (
            Section(
                HOSTILE,
                (
                    Paragraph(HOSTILE),
                    Paragraph(HOSTILE, warning=True),
                    Figure(HOSTILE, chart, HOSTILE),
                    Grid.of([HOSTILE], [[HOSTILE]], HOSTILE),
                ),
            ),
        ),
    )


@pytest.mark.parametrize("render", [to_html, to_fragment])
def test_hostile_text_stays_text_everywhere(render):
    tags = Tags()
    tags.feed(render(hostile()))
    assert not {"script", "img", "image", "a", "iframe", "object", "link"} & set(tags.found)
    assert not [name for _, name, _ in tags.attributes if name.startswith("on")]
    assert "alert(1)" in "".join(tags.text)  # shown, as text


def test_a_page_loads_nothing_from_anywhere():
    page = to_html(hostile())
    tags = Tags()
    tags.feed(page)
    outside = [
        value
        for _, name, value in tags.attributes
        if value and "//" in value and not name.startswith("xmlns")
    ]
    assert outside == []
    assert not re.search(r"url\(|@import", page)
    assert "default-src 'none'" in page


def test_the_warning_stands_on_top_in_the_title_and_above_every_section():
    document = Document("T", "s", "Do not publish", (Section("A", ()), Section("B", ())))
    page = to_html(document)
    assert page.count("Do not publish") == 4
    assert "position:fixed" in page  # on paper: on every sheet
    assert "Do not publish" not in to_html(Document("T", "s", None, (Section("A", ()),)))


def test_charts_take_the_colours_of_the_page():
    page = to_html(hostile())
    chart = page[page.index("<svg") : page.index("</svg>")]
    assert "var(--accent)" in chart
    assert "#1f5f5b" not in chart.lower()
    assert "prefers-color-scheme: dark" in page


def test_a_figure_has_words_for_those_who_do_not_see_it():
    figure = Figure("Ages", bars(["a"], [1]), "one bar")
    page = to_html(Document("T", "s", None, (Section("A", (figure,)),)))
    assert 'aria-label="Ages. one bar"' in page


def test_without_the_drawing_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtra, match=r"discreet\[plot\]"):
        to_html(hostile())


@pytest.mark.parametrize(
    ("cell", "share", "text"),
    [
        (None, False, "-"),
        (float("nan"), False, "-"),
        ("x", False, "x"),
        (12345, False, "12,345"),
        (12345.6, False, "12,346"),
        (0.012345, False, "0.0123"),
        (0.012345, True, "1.23%"),
        (0.5, True, "50.0%"),
    ],
)
def test_cells_as_text(cell, share, text):
    assert shown(cell, share=share) == text
