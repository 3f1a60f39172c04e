"""Every scalar that the kernel accepts is total: run on every nasty cell, alone and behind a condition.

Not at random: every function of the list beside every nasty constant. Each rule has a broken twin that
accepts what it likes, and with it something fails.
"""

from __future__ import annotations

from functools import cache

import pytest

from discreet.privacy.kernel import scalars
from discreet.privacy.kernel.functions import BOOLEAN, Applied, Value, ValueKind, integer
from total_kit import accepted, drafts, failure, failures


@cache
def _accepted() -> dict[str, frozenset[str]]:
    found = {scalar: accepted(scalar) for scalar in dict.fromkeys(drafts())}
    return {scalar: names for scalar, names in found.items() if names is not None}


def test_no_accepted_scalar_fails_on_any_cell() -> None:
    assert failures(list(_accepted())) == []


def test_one_that_fails_is_found_among_many() -> None:
    failing = "CAST(t.c0 AS BIGINT)"
    assert failures([*list(_accepted())[:50], failing]) == [failure(failing)] != [None]


def test_every_function_of_the_list_was_tried() -> None:
    tried = frozenset[str]().union(*_accepted().values())
    # What only the other reader spells, or only other engines have.
    elsewhere = {"/", "like", "splitpart", "substring", "collate", "extract", "unixdate"}
    elsewhere |= {"cast text", "cast string", "not in"}
    assert scalars.RULES.keys() - tried == elsewhere


def test_most_of_the_small_world_is_refused_and_much_is_not() -> None:
    assert len(_accepted()) > 400
    assert len(set(drafts())) > 2 * len(_accepted())


_TEXT = Value(ValueKind.TEXT, length=10)
_TWINS = {
    "substr": _TEXT,
    "split_part": _TEXT,
    "replace": _TEXT,
    "regexp_matches": BOOLEAN,
    "regexp_replace": _TEXT,
    "||": _TEXT,
    "+": integer(0, 1),
    "*": integer(0, 1),
    "-": integer(0, 1),
    "//": integer(0, 1),
    "cast smallint": integer(0, 1),
    "cast utinyint": integer(0, 1),
}


@pytest.mark.parametrize("name", sorted(_TWINS))
def test_without_its_rule_a_function_fails(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual, spelled = _accepted(), name.removeprefix("cast ")  # kept: by the rules as they are
    monkeypatch.setitem(scalars.RULES, name, Applied(lambda _found, _term: _TWINS[name]))
    others = (s for s in dict.fromkeys(drafts()) if spelled in s.lower() and s not in usual)
    assert any(failure(scalar) is not None for scalar in others if accepted(scalar) is not None)
