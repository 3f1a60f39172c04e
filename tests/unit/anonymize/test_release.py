from discreet.anonymize.release import expose, exposure_of
from discreet.core.event import NonPrivate
from discreet.ledger.text import budget_words, exposure_note
from ledger_kit import open_ledger


def test_the_event_names_table_and_columns():
    event = exposure_of("people", ["age", "ill"], conditions="k = 5", rows=1200)
    assert isinstance(event, NonPrivate)
    assert event.columns == ("people.age", "people.ill")
    assert event.reason == "an anonymized copy of people (k = 5; 1,200 rows)"


def test_the_ledger_remembers_over_a_restart(tmp_path):
    ledger = open_ledger(tmp_path, "1", "1e-9")
    assert ledger.exposed("census") is None
    assert exposure_note(ledger, "census") is None
    first = exposure_of("people", ["age"], conditions="k = 5", rows=10)
    second = exposure_of("people", ["age", "ill"], conditions="k = 5", rows=10)
    assert expose(ledger, "census", first) == 0
    assert expose(ledger, "census", second) == 1
    ledger.close()
    again = open_ledger(tmp_path, "1", "1e-9")
    assert again.exposed("census") == ("people.age", "people.ill")
    assert again.exposed("other") is None
    assert "people.age, people.ill of 'census'" in exposure_note(again, "census")
    shown = budget_words(again, {"census": "census"}, describe=str, last=5)
    assert "exposed: people.age, people.ill" in shown
    again.close()
