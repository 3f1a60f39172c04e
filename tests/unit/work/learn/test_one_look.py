"""One paid look: nobody but the charged people is read, nothing before the charge, and never twice."""

from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from discreet.base.numbers import Delta, Epsilon
from discreet.data.engines.base import PaidReader
from discreet.errors import DiscreetError
from discreet.measure.sealing import seal_codes
from discreet.privacy.kernel.nodes import Unfit
from discreet.work.learn.features import plain_columns
from discreet.work.learn.one_look import planned_look
from discreet.work.learn.training_plan import private_scan
from learning import curator, people


@pytest.fixture
def asked(tmp_path):
    with curator(tmp_path, table=people(200)) as found:
        yield found


@contextmanager
def look_of(asked, seal=None):
    scan = private_scan(asked.catalog, "people")
    column = next(iter(plain_columns(scan).values()))
    with planned_look(
        scan,
        seal or (lambda: seal_codes(scan, asked.engine, [column])),
        SimpleNamespace(analyst=None, epsilon=Epsilon.of(1), request_id="one"),
        asked,
        what="look",
        delta=Delta.of(0),
    ) as look:
        yield look


def charges(asked, look):
    return asked.ledger.spent(look.payer.budget).charges


def test_a_read_of_other_people_is_never_priced(asked):
    with look_of(asked) as look:
        sealed = look.sealed
    others = replace(
        sealed,
        source=replace(sealed.source, dataset=replace(sealed.source.dataset, name="neighbours")),
    )
    with pytest.raises(Unfit, match="other people"), look_of(asked, lambda: others):
        pass
    assert charges(asked, look) == 0


def test_the_charge_comes_before_the_look_and_its_outcome_is_final(asked):
    seen = []

    def outcome(reader):
        seen.append((type(reader), reader.permit.dataset, charges(asked, look)))
        return b"look 7"

    paid = {"body": "look", "note": "a look"}
    with look_of(asked) as look:
        assert charges(asked, look) == 0
        first, stored = look.run(outcome, **paid)
        again, same = look.run(outcome, **paid)
    assert (stored, same) == (b"look 7", b"look 7")
    assert seen == [(PaidReader, look.payer.dataset, 1)], "one look, after one charge"
    assert first.cost.epsilon == 1
    assert (first.repeated, again.repeated) == (False, True)


def test_a_look_that_fails_is_not_repeated(asked):
    looks = []

    def broken(_receipt):
        looks.append(1)
        raise OSError("a cell")

    paid = {"body": "look", "note": "a look"}
    with look_of(asked) as look:
        for _ in range(3):
            with pytest.raises((DiscreetError, OSError)):
                look.run(broken, **paid)
        assert charges(asked, look) == 1
    assert len(looks) == 1
