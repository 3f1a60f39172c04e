"""An answer in the ledger is the answer."""

import json
from dataclasses import replace
from fractions import Fraction

from asking import curator
from discreet.ask.release.selection import NO_CHOICES, Choices
from discreet.ask.release.stored_answers import KeptNoise, pack, unpack
from discreet.base.numbers import Epsilon
from discreet.privacy.kernel.mechanism import LargestGroup, Selection


def test_nothing_is_lost(tmp_path):
    with curator(tmp_path) as asked:
        sql = "SELECT sex, COUNT(*) AS n, AVG(age) AS mean, MEDIAN(age) AS m FROM people GROUP BY 1"
        answer = asked.query(sql, epsilon="0.3")
    found = unpack(pack(answer, (), Epsilon.of("0.3")))
    assert found.answer == answer
    assert found.answer.cost.epsilon == Epsilon.of("0.3").value
    assert found.epsilon == Epsilon.of("0.3").value
    assert unpack(pack(replace(answer, covariance=None), (), Epsilon.of("1"))).answer.rows


def test_it_is_plain_json(tmp_path):
    with curator(tmp_path) as asked:
        answer = asked.query("SELECT COUNT(*) AS n FROM people", epsilon="0.3")
    assert pack(answer, (), Epsilon.of("0.3")).startswith(b"{")


def test_choices_that_an_earlier_version_did_not_keep_are_not_made_up():
    chosen = Choices(
        {"a": Selection(Fraction(1, 2), Fraction(1, 3), 7, Fraction(2))},
        LargestGroup(Fraction(1), flip=True, sensitivity=2, monotone=True),
    )
    kept = KeptNoise((), ((),), {}, {"a": [3]}, chosen=chosen)
    data = json.loads(json.dumps(kept.to_json()))
    assert KeptNoise.from_json(data) == kept
    for part in ("selections", "top"):
        del data[part]
    assert KeptNoise.from_json(data).chosen == NO_CHOICES
