"""The other tools' code on the page is code, says what it was run with, and runs (slow: they are installed)."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

coming_from = pytest.importorskip("benchmarks.coming_from")
PAGE = coming_from.PAGE.read_text(encoding="utf-8")
PEERS = sorted(coming_from.HEADINGS)


@pytest.mark.parametrize("peer", PEERS)
def test_every_tool_has_a_block_that_ends_in_a_value(peer):
    *_, code = coming_from.blocks_of(peer, PAGE)
    assert isinstance(ast.parse(code).body[-1], ast.Expr)


@pytest.mark.parametrize("peer", PEERS)
def test_the_page_names_the_versions_that_are_run(peer):
    name, version = re.fullmatch(
        r"([A-Za-z.-]+).*==([\d.]+)", coming_from.pins_of(peer)[0]
    ).groups()
    assert f"{version}" in PAGE.split("\n## ")[0], name


def test_no_tool_of_the_page_is_forgotten():
    named = {heading.partition(":")[0] for heading in re.findall(r"^## (.*)$", PAGE, re.MULTILINE)}
    assert named == {*coming_from.HEADINGS.values(), "ARX"}
    assert "ARX is a Java program and was **not** run" in PAGE


@pytest.mark.slow
@pytest.mark.parametrize("peer", PEERS)
def test_their_code_runs_as_it_stands(peer):
    said = coming_from.tried(peer, timeout=3_600)
    if said is None:
        pytest.skip(f"{peer} cannot be installed here")
    assert said
