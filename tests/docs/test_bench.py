"""The report of the benchmarks, the README's table and docs/scale.md say what was measured, and nothing else."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import growth, growth_page, report  # noqa: E402
from benchmarks.__main__ import measured  # noqa: E402
from benchmarks.figures import Figure  # noqa: E402
from benchmarks.sections import SECTIONS, Section  # noqa: E402

RESULTS = json.loads((ROOT / "docs" / "bench" / "results.json").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_report_and_readme_are_what_was_measured():
    assert (report.DOCS / "report.md").read_text(encoding="utf-8") == report.page(RESULTS)
    assert report.with_table(README, RESULTS) == README


def test_a_changed_figure_is_noticed():
    """The broken twin: one figure made ten times better by hand."""
    better = json.loads(json.dumps(RESULTS))
    better["curator"]["figures"][1]["ours"] /= 10
    assert report.page(better) != report.page(RESULTS)
    assert report.with_table(README, better) != README


def test_every_quick_section_was_measured_and_worked():
    assert {s.name for s in SECTIONS if s.quick} == set(RESULTS)
    assert [name for name, kept in RESULTS.items() if kept["failed"] or not kept["figures"]] == []
    assert sum(kept["seconds"] for kept in RESULTS.values()) < 30 * 60
    assert len(report.short(RESULTS)) >= 2 + len(report.SHORT)


def test_the_page_of_growth_is_what_was_measured():
    points = growth.read(growth.POINTS)
    text = (ROOT / "docs" / "bench" / "scale.md.in").read_text(encoding="utf-8")
    made = growth_page.page(points, RESULTS, text)
    assert (ROOT / "docs" / "scale.md").read_text(encoding="utf-8") == made
    assert growth_page.page(points[:-1], RESULTS, text) != made


def test_growth_goes_on_where_it_stopped(tmp_path):
    place = tmp_path / "g.jsonl"
    everything = list(growth.missing(place, ["rows"], least=0, upto=lambda _, n: n <= 10**6))
    assert everything == [("rows", 10**5), ("rows", 10**6)]
    place.write_text(json.dumps({"curve": "rows", "size": 10**5}) + "\n")
    rest = list(growth.missing(place, ["rows"], least=0, upto=lambda _, n: n <= 10**6))
    assert rest == everything[1:]


def test_exponents():
    assert growth_page.slope([(10, 1.0), (100, 10.0)]) == pytest.approx(1)
    assert growth_page.slope([(10, 1.0), (100, 100.0)]) == pytest.approx(2)
    assert growth_page.slope([(10, 1.0)]) is None


def test_a_section_that_fails_says_so():
    found = measured(Section("machine_that_is_not_there", "x"), full=False)
    assert found["failed"] != []
    assert found["figures"] == []


def test_ratios_are_ours_by_theirs():
    assert Figure("a", 3.0, "ms", "b", 2.0).ratio == pytest.approx(1.5)
    assert Figure("a", 3.0, "ms").ratio is None
    assert Figure("a", 3.0, "ms", "b", 2.0, paired=1.4).ratio == 1.4, "what was judged is shown"


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)
def test_every_section_is_a_module(section):
    assert importlib.util.find_spec(f"benchmarks.{section.name}") is not None
