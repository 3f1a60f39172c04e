"""Noise that repeats: for public rows alone, and the same words for the same seed for ever."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.privacy.kernel.mechanism import Kind
from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.kernel.rehearsal import SeedRequest, words_for
from discreet.privacy.kernel.seal import Draft, MeasureDraft, Read, sealed
from kernel_kit import SCANS, duckdb_tree

WISH = SeedRequest(7, "how many?")


def read(*, public: bool) -> Read:
    sql = 'SELECT COUNT(*) AS r0 FROM canon."town.rows" AS t'
    found = sealed(Draft(sql, {"m0": MeasureDraft(Kind.ROWS, (0,))}), duckdb_tree(sql), SCANS)
    return replace(found, public_rows=public)


@pytest.mark.parametrize("public", [[], [False], [True, False], [False, True], [False, False]])
def test_one_private_read_is_enough_for_a_refusal(public: list[bool]) -> None:
    with pytest.raises(Unfit, match="rows that nobody declared public"):
        words_for(WISH, [read(public=each) for each in public])


@pytest.mark.parametrize("reads", [1, 2])
def test_public_reads_get_words_that_call_themselves_repeatable(reads: int) -> None:
    assert words_for(WISH, [read(public=True)] * reads).private is False  # type: ignore[attr-defined]


def test_a_seed_has_the_same_words_in_every_release() -> None:
    """A class compares its numbers with those in print."""
    words = words_for(WISH, [read(public=True)])
    assert words.words(3).tolist() == [
        8208787621420954690,
        9093580012854743737,
        7097858168258385063,
    ]
    assert words.words(1).tolist() == [3311183263540533466]


@pytest.mark.parametrize("count", [0, 1, 8, 9])
def test_as_many_words_come_as_were_asked_for(count: int) -> None:
    assert len(words_for(WISH, [read(public=True)]).words(count)) == count


def test_other_seeds_questions_and_calls_have_other_words() -> None:
    shown = [read(public=True)]
    wishes = [WISH, SeedRequest(8, "how many?"), SeedRequest(7, "how much?")]
    drawn = [word for request in wishes for word in words_for(request, shown).words(50).tolist()]
    again = words_for(WISH, shown)
    again.words(50)
    drawn += again.words(50).tolist()
    assert len(set(drawn)) == 200
