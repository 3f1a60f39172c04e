"""An answer in the ledger is the answer."""

from dataclasses import replace

from asking import curator
from discreet.core.numbers import Epsilon
from discreet.release.kept.stored import pack, unpack


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
