import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.counts.refusals import (
    Auditor,
    best_guess,
    databases,
    determined,
    guess_from_noisy,
    interview,
    questions,
    risky_answers,
)


def _bits(text: str) -> np.ndarray:
    return np.array([letter == "1" for letter in text])


def test_a_refused_sum_of_two_says_that_they_are_equal():
    every = databases(2)
    heard = interview(_bits("11"), questions(2)[-1:], every, Auditor.LOOKING)
    assert heard.refused == 1
    assert every[heard.by_all].tolist() == [[False, False], [True, True]]
    assert heard.by_answers.all(), "nothing was answered"


def test_one_refusal_and_one_answer_give_three_people_away():
    # The sum of the first two is refused: 0 or 2 would name both, so they are equal. The sum of all
    # three is 2, harmless to an auditor who forgets what it refused: so 1, 1 and 0.
    every = databases(3)
    asked = np.array([_bits("110"), _bits("111")])
    heard = interview(_bits("110"), asked, every, Auditor.LOOKING)
    assert heard.refused == 1
    assert every[heard.by_all].tolist() == [_bits("110").tolist()]
    assert not determined(heard.by_answers, every).any(), "by its answers nobody is named"


@pytest.mark.parametrize("people", [6, 7, 8])
def test_the_looking_auditor_keeps_its_word_and_its_refusals_break_it(people):
    every, asked = databases(people), questions(people)
    rng = np.random.default_rng(people)
    certain = 0
    for _ in range(12):
        secret = rng.random(people) < 0.5
        heard = interview(secret, asked, every, Auditor.LOOKING)
        assert not determined(heard.by_answers, every).any()
        assert (every[heard.by_all] == secret).all(1).any(), "the truth stays possible"
        known = determined(heard.by_all, every)
        assert (best_guess(heard.by_all, every)[known] == secret[known]).all()
        certain += int(known.sum())
    assert certain > 0


def test_the_blind_auditor_gives_nothing_away_by_refusing():
    every, asked = databases(6), questions(6)
    for secret in (_bits("000000"), _bits("101010")):
        heard = interview(secret, asked, every, Auditor.BLIND)
        assert np.array_equal(heard.by_all, heard.by_answers)
        assert heard.refused == len(asked)


def test_no_auditor_means_no_secrets():
    every = databases(5)
    heard = interview(_bits("01101"), questions(5), every, Auditor.NONE)
    assert every[heard.by_all].tolist() == [_bits("01101").tolist()]
    assert heard.refused == 0


def test_risky_answers_are_those_that_leave_somebody_no_choice():
    every = databases(3)
    everything = np.ones(8, dtype=bool)
    counts = every.sum(1)
    assert risky_answers(everything, counts, every).tolist() == [True, False, False, True]


def test_noisy_answers_are_weighed_by_their_law():
    every, asked = databases(3), questions(3)
    secret = _bits("110")
    exact = [float(secret[query].sum()) for query in asked]
    assert guess_from_noisy(asked, exact, every, epsilon=5.0).tolist() == secret.tolist()
    # Almost no budget: every database is as likely, and nobody's bit is likelier to be set.
    assert not guess_from_noisy(asked, [0.0] * len(asked), every, epsilon=1e-9).any()


def test_too_many_people_are_refused():
    with pytest.raises(InvalidInput, match="1 to 16"):
        databases(17)
