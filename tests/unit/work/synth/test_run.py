"""The whole way of a synthesis: charged first, stored, repeatable, and nothing uncharged."""

import json
import zlib
from fractions import Fraction

import pytest

from copying import curator, people
from discreet.base.event import Gaussian, Laplace
from discreet.errors import (
    BudgetExceeded,
    CatalogError,
    DiscreetError,
    EngineFailed,
    RequestConflict,
)
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from discreet.testing import SeededRng
from discreet.work.synth.model_file import from_text, packed, to_text, unpacked


def spent(asked):
    return asked.budget_report()["datasets"]["town"]["epsilon"]["spent"]


def test_a_copy(tmp_path):
    found = curator(tmp_path).synthesize("people", epsilon=2)
    assert found.table.column_names == [
        "id",
        "sex",
        "age",
        "income",
        "born",
        "seen",
        "member",
        "job",
    ]
    assert abs(found.table.num_rows - 400) < 60
    assert set(found.table["job"].to_pylist()) <= {"baker", "clerk", None}
    assert found.table["age"].null_count > 0
    assert (found.cost.epsilon, found.cost.delta) == (2, Fraction(1, 4_000_000))
    assert 1.9 < found.after.epsilon <= 2  # the ledger reads the bill in the better of two ways
    assert found.limit.epsilon == 10
    assert not found.free
    assert not found.private  # a seeded generator drew the noise
    assert all(isinstance(item.law, GaussianLaw) for item in found.measured)
    assert "epsilon 2" in repr(found)
    assert "secret" not in json.dumps(found.to_json())


def test_a_table_with_a_complete_column_is_copied_without_the_rows_that_lack_it(tmp_path):
    found = curator(tmp_path, complete=True).synthesize("people", epsilon=5)
    assert abs(found.table.num_rows - 360) < 20
    assert found.table["age"].null_count == 0


def test_a_declared_column_that_the_source_lacks_is_refused_before_the_charge(tmp_path):
    asked = curator(tmp_path, table=people(40).drop_columns(["age"]))
    with pytest.raises(CatalogError, match=r"table 'people' .* has no column 'age'"):
        asked.synthesize("people", epsilon=1)
    assert spent(asked) == 0


def test_missing_values_stay_with_their_rows(tmp_path):
    found = curator(tmp_path, table=people(3000)).synthesize("people", epsilon=5)
    ages, born = found.table["age"].to_pylist(), found.table["born"].to_pylist()
    both = sum(a is None and b is None for a, b in zip(ages, born, strict=True))
    assert both > 0.6 * found.table["age"].null_count > 50  # in the rows they are always together


def test_pure_currency_without_delta(tmp_path):
    found = curator(tmp_path, delta="0").synthesize("people", epsilon=1)
    assert found.cost.delta == 0
    assert "job" not in found.table.column_names
    assert all(isinstance(item.law, LaplaceLaw) for item in found.measured)


def test_the_charge_comes_before_the_rows(tmp_path, monkeypatch):
    asked = curator(tmp_path)
    order = []
    charge, materialise = type(asked.ledger).charge_all, asked.engine.materialise
    monkeypatch.setattr(
        type(asked.ledger),
        "charge_all",
        lambda *a, **k: (order.append("charge"), charge(*a, **k))[1],
    )
    run, kept = asked.engine._run, materialise

    def spy(name, call):
        return lambda *a, **k: (order.append(name), call(*a, **k))[1]

    monkeypatch.setattr(asked.engine, "_run", spy("run", run))
    monkeypatch.setattr(asked.engine, "materialise", spy("materialise", kept))
    asked.synthesize("people", epsilon=1)
    assert order[0] == "charge"
    assert order.count("charge") == 1
    assert {"run", "materialise"} <= set(order[1:])


def test_a_failing_engine_is_charged_and_says_one_sentence(tmp_path, monkeypatch):
    asked = curator(tmp_path)
    monkeypatch.setattr(asked.engine, "answers", None)
    with pytest.raises(EngineFailed):
        asked.synthesize("people", epsilon=1)
    assert spent(asked) == pytest.approx(1, rel=0.05)


def test_the_same_id_gives_the_same_model_free(tmp_path):
    asked = curator(tmp_path)
    first = asked.synthesize("people", epsilon=1, request_id="once")
    ran = len(asked.engine.ran)
    again = asked.synthesize("people", epsilon=1, request_id="once", rows=10, where="sex = 'Male'")
    assert again.free
    assert again.cost.epsilon == 0
    assert again.after.epsilon == first.after.epsilon
    assert again.model.to_json() == first.model.to_json()
    assert len(asked.engine.ran) == ran  # no row was read
    assert again.table.num_rows == 10
    assert set(again.table["sex"].to_pylist()) == {"Male"}
    with pytest.raises(RequestConflict):
        asked.synthesize("people", epsilon=2, request_id="once")
    with pytest.raises(RequestConflict):
        asked.query("SELECT COUNT(*) AS n FROM people", epsilon=1, request_id="once")


def test_rows_that_cannot_be_drawn_leave_a_model_that_can_be_asked_again(tmp_path):
    asked = curator(tmp_path)
    with pytest.raises(DiscreetError, match="ask again under the id once") as refused:
        asked.synthesize("people", epsilon=1, request_id="once", rows=1, where="age > income + 500")
    assert "No row can satisfy" in refused.value.message
    assert asked.synthesize("people", epsilon=1, request_id="once").free


def test_queries_go_on_beside_it(tmp_path):
    asked = curator(tmp_path)
    asked.synthesize("people", epsilon=1, request_id="copy")
    answer = asked.query("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=1)
    assert len(answer.rows) == 2
    assert asked.stored_answer("copy") is None  # a model is no answer
    assert asked.ledger.verify()


def test_too_much_is_refused_and_nothing_is_read(tmp_path):
    asked = curator(tmp_path, epsilon="0.5")
    with pytest.raises(BudgetExceeded):
        asked.synthesize("people", epsilon=1)
    assert asked.engine.ran == []


REFUSED = {
    "There is no method 'magic'": {"method": "magic"},
    "has no setting 'magic'": {"options": {"magic": 1}},
    "bins must be one of": {"bins": "magic"},
    "no column 'wage'": {"rules": ["wage > 3"]},
    "cannot be used": {"where": "COUNT(*) > 3"},
    "No declared value satisfies": {"where": "sex = 'Neither'"},
    "rows must be": {"rows": -1},
    "nothing could be seen": {"epsilon": "1e-12"},
    "epsilon must be greater than 0": {"epsilon": 0},
    "delta must be": {"delta": 2},
    "There is no table 'nobody'": {"table": "nobody"},
    "reads no data, so it does not know": {"method": "random"},
    "needs 2 to 8": {"choose": ["tree"]},
    "cannot use these settings: parents='many'": {
        "method": "correlated",
        "options": {"parents": "many"},
    },
    "A workload is a list": {"method": "adaptive", "options": {"workload": "age"}},
    "names a column 'wage'": {"method": "adaptive", "options": {"workload": [["wage", "age"]]}},
}


@pytest.fixture(scope="module")
def unasked(tmp_path_factory):
    return curator(tmp_path_factory.mktemp("town"))


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_wrong_is_said_before_anything_is_charged(words, unasked):
    options = {"epsilon": 1} | REFUSED[words]
    with pytest.raises(DiscreetError, match=words.replace("(", r"\(")):
        unasked.synthesize(options.pop("table", "people"), **options)
    assert unasked.engine.ran == []
    assert spent(unasked) == 0


def test_random_reads_nothing_and_costs_nothing(tmp_path):
    asked = curator(tmp_path)
    found = asked.synthesize("people", epsilon=1, method="random", rows=50)
    assert found.free
    assert found.cost.epsilon == 0
    assert found.table.num_rows == 50
    assert asked.engine.ran == []
    assert any("No row was read" in notice for notice in found.notices)
    assert spent(asked) == 0


def test_a_person_with_several_rows_is_priced_for_all_of_them(tmp_path):
    asked = curator(tmp_path)
    found = asked.synthesize("visits", epsilon=5)
    assert abs(found.table.num_rows - 2000) < 300  # two of three visits count
    assert found.saved.facts["unit"] == {"rows": 2, "replaced": False}
    (tmp_path / "other").mkdir()
    other = curator(tmp_path / "other", neighbours="replace-one")
    swapped = other.synthesize("visits", epsilon=5)
    assert swapped.saved.facts["unit"] == {"rows": 2, "replaced": True}
    alone = [m.law.sigma_squared for m in found.measured]
    both = [m.law.sigma_squared for m in swapped.measured]
    assert both[0] == 2 * alone[0]


def test_rules_of_the_catalog_and_of_the_request_are_both_kept(tmp_path):
    asked = curator(tmp_path, rules=["age >= 16 if member"])
    found = asked.synthesize("people", epsilon=2, rules=["income < 500"])
    for age, member, income in zip(
        *(found.table[name].to_pylist() for name in ("age", "member", "income")), strict=True
    ):
        assert not (member and age is not None and age < 16)
        assert income < 500


def test_a_declared_workload(tmp_path):
    options = {"workload": [["age", "sex"], ["member", "sex", "job"]], "rounds": 3}
    found = curator(tmp_path).synthesize("people", epsilon=2, method="aim", options=options)
    assert found.method == "aim"
    assert found.table.num_rows > 100


def test_a_paid_choice_among_methods(tmp_path):
    found = curator(tmp_path).synthesize("people", epsilon=2, choose=["tree", "independent"])
    assert found.method in {"tree", "independent"}
    assert found.cost.epsilon == 2
    assert any("was chosen among tree, independent" in notice for notice in found.notices)


def test_too_few_rows_for_the_epsilon_are_told(tmp_path):
    asked = curator(tmp_path, table=people(20))
    found = asked.synthesize("people", epsilon="0.1")
    assert any("too few for this epsilon" in notice for notice in found.notices)


def test_the_price_does_not_depend_on_the_rows(tmp_path):
    costs, events = [], []
    for i, rows in enumerate((1, 50, 300)):
        folder = tmp_path / str(i)
        folder.mkdir()
        asked = curator(folder, table=people(rows), rng=SeededRng(i))
        costs.append(asked.synthesize("people", epsilon=1, bins="equal").cost)
        entry = asked.ledger.history()[-1]
        events.append((entry.data["event"], entry.data["region"]))
    assert len({(cost.epsilon, cost.delta) for cost in costs}) == 1
    assert len({repr(event) for event in events}) == 1


def test_what_is_stored_is_compressed_and_checked(tmp_path):
    found = curator(tmp_path).synthesize("people", epsilon=1)
    payload = packed(to_text(found.saved))
    assert from_text(unpacked(payload)).encoding == found.encoding
    assert not payload.startswith(b"{")
    with pytest.raises(DiscreetError):
        from_text(unpacked(zlib.compress(b"{}")))
    with pytest.raises(DiscreetError, match="too large"):
        unpacked(payload, 10)


def test_events_of_the_method_are_of_its_currency(tmp_path):
    for folder, delta, kind in (("a", "1e-6", Gaussian), ("b", "0", Laplace)):
        (tmp_path / folder).mkdir()
        found = curator(tmp_path / folder, delta=delta).synthesize(
            "visits", epsilon=1, method="independent"
        )
        law = GaussianLaw if kind is Gaussian else LaplaceLaw
        assert {type(item.law) for item in found.measured} == {law}
