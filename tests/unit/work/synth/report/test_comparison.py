"""The owner's comparison: a look in the ledger first, a mark on every page, exact numbers."""

import pytest

from discreet.measure.sealing import MemoryCounter
from discreet.show import to_html
from discreet.work.synth.report.make_reports import WARNING, owner_report
from quality_kit import SHAPE, fit_singles, people, subject_of


class Book:
    def __init__(self):
        self.looks = []

    def record_look(self, dataset, *, reason, columns, note):
        self.looks.append((dataset, reason, tuple(columns), note))
        return "the permit of a look"


def report(subject, book, codes):
    def opened(permit):
        assert permit == "the permit of a look"
        assert book.looks, "read before the look was recorded"
        return MemoryCounter(codes, SHAPE)

    return owner_report(subject, opened, ledger=book, dataset="town")


def test_the_look_is_recorded_before_anything_is_read():
    book = Book()
    report(subject_of(people()), book, people())
    [(dataset, reason, columns, note)] = book.looks
    assert dataset == "town"
    assert "compared" in reason
    assert columns == SHAPE.names
    assert "people" in note


def test_a_look_stays_recorded_when_reading_fails():
    book = Book()

    def broken(_permit):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        owner_report(subject_of(people()), broken, ledger=book, dataset="town")
    assert len(book.looks) == 1


def test_every_section_is_marked_and_unpaid_selection_is_warned_of():
    document = report(subject_of(people()), Book(), people())
    page = to_html(document)
    assert document.warning == WARNING
    assert page.count("Do not publish") == 2 + len(document.sections)
    assert "--choose" in page


def test_it_shows_what_was_lost():
    kept = report(subject_of(people()), Book(), people())
    lost = report(subject_of(people(), fit=fit_singles), Book(), people())

    def verdicts(document):
        return {row[0]: row[-1] for row in document.sections[1].blocks[1].rows}

    assert verdicts(kept)["counts by two columns"] == "well"
    assert verdicts(lost)["counts by two columns"] == "badly"
