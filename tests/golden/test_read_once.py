"""A statement is read once: whoever reads its tree afterwards leaves it as it is."""

import sys
from contextlib import suppress
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kit import HERE, catalog, read

from discreet.ask.release.post_processing import nested_in
from discreet.ask.sql.bind import bind
from discreet.ask.sql.parse import ParsedQuestion, read_checked
from discreet.ask.sql.post_processing.split import split, with_constants
from discreet.errors import DiscreetError

ASKED = [pair.sql for path in sorted(HERE.glob("*.sql")) for pair in read(path)[1]]
STEPS = {
    "split": lambda written: split(written.tree, catalog()),
    "nested_in": lambda written: nested_in(written.tree, catalog()),
    "with_constants": lambda written: with_constants(written.tree, catalog(), []),
    "bind": lambda written: bind(written, catalog()),
}


def changed_by(step) -> list[str]:
    """Return the statements whose tree is another one after this step."""
    found, seen = [], 0
    for sql in ASKED:
        with suppress(DiscreetError):
            tree = read_checked(sql)
            seen += 1
            before, written = repr(tree), ParsedQuestion(sql, tree, ready=True)
            assert read_checked(written) is tree
            with suppress(DiscreetError, ValueError):
                step(written)
            if repr(tree) != before:
                found.append(sql)
    assert seen > 150
    return found


@pytest.mark.parametrize("name", STEPS)
def test_a_tree_stays_as_it_was_read(name):
    assert changed_by(STEPS[name]) == []


def test_a_step_that_changes_it_is_caught():
    assert changed_by(
        lambda written: written.tree.set("limit", None) or written.tree.set("from_", None)
    )
