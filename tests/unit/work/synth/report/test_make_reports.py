"""From a synthetic table to its reports: the publishable one reads nothing, the owner's is recorded."""

import json

import pytest

from copying import curator, people
from discreet.errors import InvalidInput
from discreet.measure.sealing import MemoryCounter
from discreet.show import to_json
from discreet.work.synth.model_file import with_facts
from discreet.work.synth.report.make_reports import subject_of


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    return curator(tmp_path_factory.mktemp("town"), table=people(800))


@pytest.fixture(scope="module")
def synthetic(asked):
    return asked.synthesize("people", epsilon=3)


def test_the_publishable_report_reads_and_costs_nothing(asked, synthetic):
    ran, entries = len(asked.engine.ran), asked.ledger.verify()
    document = asked.synthesis_report(synthetic, target="sex")
    assert len(asked.engine.ran) == ran
    assert asked.ledger.verify() == entries
    assert "Synthetic copy of people" in json.dumps(to_json(document))


def test_the_owners_comparison_is_recorded_first(asked, synthetic):
    document = asked.synthesis_comparison(synthetic)
    assert "Do not publish" in json.dumps(to_json(document))
    last = asked.ledger.history()[-1]
    assert last.kind == "look"
    assert last.data["dataset"] == "town"


def test_a_model_that_does_not_say_how_it_was_made_has_no_report(synthetic):
    for facts in ({"cost": {}}, {"purse": 3}, {"method": "magic"}, {"unit": None}):
        with pytest.raises(InvalidInput):
            subject_of(with_facts(synthetic.saved, **facts), synthetic.rows)


def test_a_rehearsal_uses_the_same_method_and_budget(synthetic):
    subject = subject_of(synthetic.saved, synthetic.rows)
    again = subject.refit(MemoryCounter(synthetic.rows.codes, synthetic.encoding.shape))
    assert again.shape == synthetic.model.shape
    assert again.total == pytest.approx(len(synthetic.rows.codes), rel=0.3)
