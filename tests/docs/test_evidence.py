"""The page of evidence: no claim without a line, no line without a test, and it is up to date."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def evidence():
    spec = importlib.util.spec_from_file_location("evidence", ROOT / "scripts" / "evidence.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["evidence"] = module
    spec.loader.exec_module(module)
    return module


def test_every_claim_of_the_readme_has_a_line(evidence):
    claims = evidence.read("claims")
    assert len(evidence.claims_of(README)) > 15
    assert evidence.unproved(README, claims) == []
    assert evidence.outdated(README, claims) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- **Exact noise.**", "- **It also makes coffee.** Always.\n- **Exact noise.**"),
        ("An analyst asks ordinary SQL.", "An analyst asks ordinary SQL. No attack ever works."),
        ("The first time it", "Answers take 3 ms. The first time it"),
    ],
)
def test_a_claim_without_a_line_is_noticed(evidence, old, new):
    """The broken twin: a README that says more."""
    assert old in README
    assert len(evidence.unproved(README.replace(old, new), evidence.read("claims"))) == 1


def test_a_line_without_its_claim_is_noticed(evidence):
    assert evidence.outdated(README.replace("Exact noise.", "Noise."), evidence.read("claims"))


@pytest.mark.parametrize("name", ["claims", "acceptance", "audits", "operations"])
def test_every_line_names_tests_that_exist(evidence, name):
    entries = evidence.read(name)
    assert all(entry["tests"] and entry["command"] for entry in entries)
    assert evidence.missing_tests([test for entry in entries for test in entry["tests"]]) == []
    assert len({entry["id"] for entry in entries}) == len(entries)


def test_a_test_that_is_gone_is_noticed(evidence):
    here = "tests/docs/test_evidence.py"
    wrong = ["tests/docs/test_nothing.py", f"{here}::test_that_nobody_wrote"]
    assert (
        evidence.missing_tests(
            [here, f"{here}::{test_a_test_that_is_gone_is_noticed.__name__}", *wrong]
        )
        == wrong
    )


def test_all_acceptance_tests_are_there_in_order(evidence):
    assert [entry["id"] for entry in evidence.read("acceptance")] == [str(n) for n in range(1, 26)]


def test_results_belong_to_commands_that_are_still_named(evidence):
    named = {e["command"] for n in evidence.FILES for e in evidence.read(n)}
    results = evidence.stored()
    assert set(results) <= named
    assert all(result["date"] and result.get("tests", 1) for result in results.values())


def test_the_page_is_what_make_evidence_would_write(evidence):
    assert evidence.PAGE.read_text(encoding="utf-8") == evidence.page(evidence.stored())
    assert "not measured yet" in evidence.page({})


def test_a_run_stores_what_the_tests_recorded(evidence, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # none of them is needed here
    file = tmp_path / "test_it.py"
    one = "def test_{}(record_property):\n    record_property('kills survived', 7)\n"
    file.write_text(one.format("a") + one.format("b"))
    found = evidence.run(f"pytest -c /dev/null --rootdir={tmp_path} {file}")
    assert (found["tests"], found["figures"]) == (2, {"kills survived": "14"})
    file.write_text("def test_it():\n    assert False\n")
    with pytest.raises(SystemExit, match="failed"):
        evidence.run(f"pytest -c /dev/null --rootdir={tmp_path} {file}")
