"""Colours of reports: those of the page, and readable."""

import re
from pathlib import Path

import pytest

from discreet.show.charts import DARK, LIGHT

TOKENS = Path(__file__).parents[3] / "src" / "discreet" / "server" / "static" / "tokens.css"


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mixed(colour, opacity, paper):
    parts = [
        round(opacity * int(colour[i : i + 2], 16) + (1 - opacity) * int(paper[i : i + 2], 16))
        for i in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02x}" for part in parts)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("name", ["ink", "quiet", "accent", "warning", "danger"])
def test_text_has_aa_contrast(theme, name):
    assert contrast(theme[name], theme["paper"]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("name", ["accent", "warning"])
def test_numbers_are_readable_on_the_darkest_cell_of_a_heat_map(theme, name):
    assert contrast(theme["ink"], mixed(theme[name], 0.5, theme["paper"])) >= 4.5


def test_the_colours_are_those_of_the_page():
    found = re.findall(r"--(\w+): light-dark\((#\w+), (#\w+)\)", TOKENS.read_text(encoding="utf-8"))
    page = {name: (light, dark) for name, light, dark in found}
    for name in LIGHT:
        assert page[name] == (LIGHT[name], DARK[name])
