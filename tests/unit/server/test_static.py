"""What the page is made of: contrast by the tokens themselves, and nothing from anywhere else."""

import re
from pathlib import Path

import pytest

import discreet.server

ROOT = Path(discreet.server.__file__).parent
STATIC = sorted(path for path in (ROOT / "static").rglob("*") if path.is_file())
PAGES = sorted((ROOT / "pages").iterdir())
TEXT = (ROOT / "static" / "tokens.css").read_text(encoding="utf-8")
TOKENS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([a-z]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", TEXT
    )
}
WORDS, SHAPES = 4.5, 3.0
"""WCAG 2.2 AA: contrast of text, and of what one must see to use a control."""


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_measure_itself():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") < WORDS < contrast("#767676", "#ffffff")


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_contrast_is_enough_in_light_and_dark(mode):
    paper = TOKENS["paper"][mode]
    for name in ("ink", "quiet", "accent", "warning", "danger"):
        assert contrast(TOKENS[name][mode], paper) >= WORDS, name
    assert contrast(TOKENS["edge"][mode], paper) >= SHAPES
    # Text on the main button is paper on accent, which darkens or lightens towards ink on hover.
    assert contrast(paper, TOKENS["accent"][mode]) >= WORDS


def test_the_tokens_are_those_of_the_design():
    assert TOKENS["paper"] == ("#fbfaf7", "#151718")
    assert TOKENS["accent"] == ("#1f5f5b", "#6fc3bc")
    assert TOKENS["danger"] == ("#a3262a", "#f08a8d")


@pytest.mark.parametrize("path", [p for p in STATIC if p.suffix == ".css"], ids=lambda p: p.name)
def test_colours_are_written_in_the_tokens_only(path):
    if path.name != "tokens.css":
        text = path.read_text(encoding="utf-8")
        assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?![^{]*\{)|rgba?\(|hsla?\(", text) == []
        assert set(re.findall(r"var\(--([a-z0-9-]+)\)", text)) <= set(
            re.findall(r"--([a-z0-9-]+):", TEXT)
        )


@pytest.mark.parametrize("path", [*STATIC, *PAGES], ids=lambda p: p.name)
def test_nothing_comes_from_elsewhere(path):
    text = path.read_text(encoding="utf-8")
    known = {"http://www.w3.org/2000/svg", "https://vega.github.io/schema/vega-lite/v6.json"}
    assert set(re.findall(r"https?://[^\s\"'`)>]+", text)) <= known
    assert "@import" not in text
    assert re.search(r"(?<!\w)url\(", text) is None


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_templates_obey_the_policy(path):
    text = path.read_text(encoding="utf-8")
    assert re.search(r"\sstyle=", text) is None, "the policy forbids style attributes"
    assert re.search(r"\son[a-z]+=", text) is None, "the policy forbids handlers in markup"
    assert re.findall(r"<script(?![^>]*\ssrc=)", text) == []
    assert "|safe" not in text


@pytest.mark.parametrize("path", [p for p in STATIC if p.suffix == ".js"], ids=lambda p: p.name)
def test_scripts_put_text_in_as_text(path):
    text = path.read_text(encoding="utf-8")
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert way not in text
    assert len(text.splitlines()) <= 700


@pytest.mark.parametrize("path", [p for p in STATIC if p.suffix == ".js"], ids=lambda p: p.name)
def test_modules_import_what_exists(path):
    text = path.read_text(encoding="utf-8")
    imported = r"import \{([^}]*)\} from \"(\.\.?/[a-z_/]+\.js)\""
    for names, module in re.findall(imported, text):
        exported = (path.parent / module).read_text(encoding="utf-8")
        for name in filter(None, (part.strip() for part in names.split(","))):
            own = rf"export (?:async )?(?:function|const|class) {name}\b"
            assert re.search(rf"{own}|export \{{[^}}]*\b{name}\b[^}}]*\}} from", exported)
