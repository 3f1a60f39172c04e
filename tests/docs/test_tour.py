"""The guided tour leads to the lines that it names."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("tour", ROOT / "scripts" / "tour.py")
tour = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tour)
TEXT = tour.TOUR.read_text(encoding="utf-8")


def test_every_link_into_the_code_names_a_line_and_is_right():
    into_code = re.findall(r"\]\(\.\./src/[^)]*\)", TEXT)
    assert len(tour.LINK.findall(TEXT)) == len(into_code) >= 30
    assert tour.with_lines(TEXT) == TEXT, "stale: run `make reference`"


def test_a_line_that_moved_and_a_name_that_is_gone_are_noticed():
    moved = tour.LINK.sub(lambda link: link[0].replace("#L", "#L9"), TEXT, count=1)
    assert moved != TEXT
    assert tour.with_lines(moved) == TEXT
    with pytest.raises(KeyError):
        tour.line_of("src/discreet/base/answer.py", "Answer.nothing")


def test_it_is_read_in_ten_minutes():
    words = re.sub(r"\]\([^)]*\)", "]", TEXT).split()
    assert len(words) < 2000
