"""Noise that repeats: the same for a class on public rows, never on private ones, and marked everywhere."""

from dataclasses import replace

import pytest

from asking import catalog, curator
from discreet.ask.release.desk import PlainDesk, Request
from discreet.ask.release.statement import release
from discreet.ask.release.stored_answers import pack, unpack
from discreet.base.answer import REHEARSAL, Answer
from discreet.base.numbers import Epsilon
from discreet.curator import Curator, policy_of
from discreet.data.catalog.policy_file import loads
from discreet.errors import CatalogError, InvalidInput, UnknownName
from discreet.privacy.kernel import look as kernel_look
from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.kernel.rehearsal import SeedRequest, _SeededWords, words_for
from discreet.privacy.ledger.ledger import Ledger
from discreet.testing import SeededRng

SEX = "SELECT sex, COUNT(*) AS n, SUM(age) AS a FROM people GROUP BY sex"
STATEMENTS = [
    SEX,
    "SELECT COUNT(*) AS n FROM people WHERE age > 30",
    "SELECT MEDIAN(age) AS m FROM people",
    "SELECT AVG(n) AS m FROM (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex) t",
    "SELECT COUNT(*) AS n FROM people WHERE age > (SELECT AVG(age) FROM people)",
]


def declared(known, *names):
    """Return the catalog with the rows of these datasets declared public."""
    found = {
        name: replace(dataset, public_rows=name in names)
        for name, dataset in known.datasets.items()
    }
    return replace(known, datasets=found)


@pytest.fixture
def asked(tmp_path):
    """A curator whose census is public and whose clinic is not."""
    with curator(tmp_path) as private:
        known = declared(private.catalog, "census")
        yield Curator(known, ledger=private.ledger, engine=private.engine)


@pytest.mark.parametrize("sql", STATEMENTS)
def test_a_seed_gives_everybody_the_same(asked, sql):
    first = asked.rehearse(sql, seed=7, epsilon="0.1")
    asked.query(SEX, epsilon="0.5")  # what one of them has paid for changes nothing
    assert asked.rehearse(sql, seed=7, epsilon="0.1").rows == first.rows


def test_another_seed_gives_other_noise(asked):
    # Four cells with noise of a scale of 1,000 and more: below 1e-12 that all of them agree.
    one, other = (asked.rehearse(SEX, seed=seed, epsilon="0.001") for seed in (1, 2))
    assert one.rows != other.rows


def test_nothing_is_spent_kept_or_used(asked):
    before = asked.history()
    rehearsed = asked.rehearse(SEX, seed=7, epsilon="0.1")
    assert asked.history() == before
    assert asked.stored_answer(rehearsed.request_id) is None
    private = asked.query(SEX, epsilon="0.1")
    assert not private.free, "a rehearsal was taken for a paid answer"
    assert private.provenance.private
    assert private.provenance.watermark == ""


def test_private_rows_are_unknown_to_a_rehearsal(asked, tmp_path):
    for sql in (
        "SELECT COUNT(*) AS n FROM visits",
        "SELECT COUNT(*) AS n FROM clinic.patients",
    ):
        with pytest.raises(UnknownName, match="declared public only: census"):
            asked.rehearse(sql, seed=7, epsilon="0.1")
    none = Curator(declared(asked.catalog), ledger=asked.ledger, engine=asked.engine)
    with pytest.raises(InvalidInput, match="public_rows = true"):
        none.rehearse(SEX, seed=7, epsilon="0.1")
    for seed in (-1, 2**63, True, "7"):
        with pytest.raises(InvalidInput):
            asked.rehearse(SEX, seed=seed, epsilon="0.1")


class Reads:
    """An engine that counts what was read."""

    def __init__(self, inner):
        self._inner, self.count = inner, 0

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def hold(self, tables, **how):
        return Reads.Held(self, self._inner.hold(tables, **how))

    class Held:
        def __init__(self, reads, inner):
            self._reads, self._inner = reads, inner

        def __getattr__(self, name):
            return getattr(self._inner, name)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self._inner.close()

        def paid(self, permit):
            return self._inner.paid(permit).through(self._counted)

        def _counted(self, run):
            def counted(*arguments, **named):
                self._reads.count += 1
                return run(*arguments, **named)

            return counted


def forced(private, seed=7):
    """Ask with a seed as a broken page, client or API would: past every wall but the kernel's."""
    request = replace(Request.of(SEX, epsilon="0.1"), seed=seed)
    reads = Reads(private.engine)
    ledger = Ledger.open(
        "sqlite:forced.db", policy_of(private.catalog), base=private.catalog.base / f"s{seed}"
    )
    try:
        answer = release(
            request,
            PlainDesk(private.catalog, ledger, reads, SeededRng(1)),
        )
    except Unfit:
        return None, reads.count
    finally:
        ledger.close()
    return answer, reads.count


def test_the_kernel_refuses_a_seed_for_private_rows_whoever_asks(tmp_path):
    (tmp_path / "s7").mkdir()
    with curator(tmp_path) as private:
        assert forced(private) == (None, 0), "seeded noise left a private dataset"


def test_a_kernel_that_does_not_look_would_be_noticed(tmp_path, monkeypatch):
    """The broken twin: without the last check the noise is everybody's, and can be subtracted."""
    monkeypatch.setattr(kernel_look, "words_for", lambda request, _reads: _SeededWords(request))
    for name in ("s7", "s8"):
        (tmp_path / name).mkdir()
    with curator(tmp_path) as private:
        answer, reads = forced(private)
        assert answer is not None
        assert reads > 0
        assert answer.provenance.watermark == REHEARSAL
        assert forced(private, seed=8)[0].rows != answer.rows


def test_what_is_public_is_read_from_the_final_sql(asked):
    """The planner's word is not asked: `sealed` finds the dataset in the SQL that will run."""
    with pytest.raises(Unfit):
        words_for(SeedRequest(1, "q"), ())
    from discreet.ask.release.pipeline import prepared

    for sql, public in (
        (SEX, True),
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", False),
    ):
        with prepared(Request.of(sql, epsilon="0.1"), asked) as (ready, _):
            assert {read.public_rows for read in ready.sealed.reads} == {public}
            mixed = (*ready.sealed.reads, replace(ready.sealed.reads[0], public_rows=not public))
            with pytest.raises(Unfit):
                words_for(SeedRequest(1, "q"), mixed)


def test_a_usual_question_never_meets_a_seed(asked, monkeypatch):
    monkeypatch.setattr(kernel_look, "words_for", None)
    assert asked.query(SEX, epsilon="0.1").provenance.private
    with pytest.raises(TypeError):
        asked.rehearse(SEX, seed=7, epsilon="0.1")


def test_the_mark_is_on_everything(asked, tmp_path):
    answer = asked.rehearse(SEX, seed=7, epsilon="0.1")
    kept = unpack(pack(answer, (), Epsilon.of(1))).answer
    sent = Answer.from_json(answer.to_json() | {"keys": answer.keys})
    for found in (answer, kept, sent):
        assert not found.provenance.private
        assert REHEARSAL in str(found)
        assert REHEARSAL in found._repr_html_()
        lines = found.to_csv().splitlines()
        assert lines[0].endswith(",watermark")
        assert all(line.endswith(REHEARSAL) for line in lines[1:])
        assert found.to_arrow().column("watermark").to_pylist() == [REHEARSAL, REHEARSAL]
        assert found.plot().spec["title"] == REHEARSAL
        assert found.to_json()["watermark"] == REHEARSAL
    public = asked.rehearse("SELECT 1 + COUNT(*) AS n FROM people", seed=1, epsilon="0.1")
    assert REHEARSAL in str(public)
    private = asked.query(SEX, epsilon="0.1")
    assert "watermark" not in private.to_csv()
    assert "watermark" not in private.to_json()
    assert "title" not in private.plot().spec


def test_words_of_a_seed_repeat_and_go_on():
    one, same, other = (_SeededWords(SeedRequest(s, q)) for s, q in ((1, "a"), (1, "a"), (1, "b")))
    first = one.words(500).tolist()
    assert first == same.words(500).tolist()
    seen = [*first, *one.words(500).tolist(), *other.words(500).tolist()]
    assert len(set(seen)) == 1500  # 64 bits: a pair alike has probability below 1e-13
    bits = sum(word.bit_count() for word in seen)
    # 96,000 fair coins: more than 1,000 off with probability below 1e-9.
    assert abs(bits - 48_000) < 1_000


def test_rows_are_public_everywhere_or_nowhere(tmp_path):
    text = """
    [budgets.all]
    epsilon = 1
    [datasets.one]
    budget = "all"
    {public}
    tables.a = {{ source = "a.parquet", unit = "row", columns = {{ x = {{ type = "boolean" }} }} }}
    [datasets.two]
    budget = "all"
    tables.b = {{ source = "a.parquet", unit = "row", columns = {{ x = {{ type = "boolean" }} }} }}
    """
    assert loads(text.format(public=""), base=tmp_path)
    with pytest.raises(CatalogError, match="public everywhere or nowhere"):
        loads(text.format(public="public_rows = true"), base=tmp_path)
    with pytest.raises(CatalogError, match="true or false"):
        loads(text.format(public="public_rows = 1"), base=tmp_path)
    assert not any(dataset.public_rows for dataset in catalog().datasets.values())
