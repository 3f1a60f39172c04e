"""The publishable report: complete, and a function of what was paid for alone."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np

from discreet.show import to_html, to_json
from discreet.work.synth.report.publishable import Subject, publishable_report
from quality_kit import fit_joint, fit_singles, people, subject_of


def titles(document):
    return [section.title for section in document.sections]


def test_it_has_every_part():
    document = publishable_report(subject_of(people()))
    assert document.warning is None
    assert titles(document) == [
        "What this is",
        "What it supports, and by how much",
        "Columns side by side",
        "Which columns hang together",
        "What was measured",
        "Error of tables",
        "What models learn from it",
        "Small groups and tails",
    ]
    text = to_html(document)
    assert "Column &#x27;note&#x27; is free text" in text
    assert "noise ±" in text


def test_it_can_be_written_as_strict_json():
    json.dumps(to_json(publishable_report(subject_of(people()))), allow_nan=False)


def test_without_a_method_to_rehearse_it_says_less_but_stands():
    document = publishable_report(subject_of(people(), refit=False))
    assert "Error of tables" not in titles(document)
    assert "What was measured" in titles(document)


def test_columns_that_were_measured_show_their_noise():
    document = publishable_report(subject_of(people(), fit=fit_singles))
    figures = document.sections[2].blocks
    assert all("low" in figure.spec["data"]["values"][0] for figure in figures)


def test_a_noisy_small_table_is_warned_of():
    subject = subject_of(people(60), fit=fit_singles, rho=Fraction(1, 5000))
    words = " ".join(b.text for b in publishable_report(subject).sections[0].blocks)
    assert "too few for this epsilon" in words


def test_it_reads_nothing_but_the_subject():
    """Two real tables that gave the same noisy ones give the same report."""
    subject = subject_of(people(), refit=False)
    copy = Subject(
        subject.table,
        subject.method,
        subject.price,
        subject.encoding,
        subject.model,
        subject.codes,
        subject.measured,
        subject.notices,
    )
    assert publishable_report(subject) == publishable_report(copy)
    assert not np.array_equal(subject.codes, people())


def test_what_was_not_measured_is_judged_at_best():
    def verdicts(fit):
        grid = publishable_report(subject_of(people(), fit=fit)).sections[1].blocks[1]
        return {row[0]: row[4:] for row in grid.rows}

    singles = verdicts(fit_singles)
    assert singles["counts by one column"] == ("well", "3 of 3")
    assert singles["counts by two columns"][0].startswith("at best")
    assert singles["counts by two columns"][1] == "0 of 3"
    # How well they were measured is a matter of the noise; that they were measured is not.
    joint = verdicts(fit_joint)
    assert not joint["counts by two columns"][0].startswith("at best")
    assert joint["counts by two columns"][1] == "3 of 3"


def test_slow_methods_are_not_rehearsed_unless_asked_for():
    subject = replace(subject_of(people()), method="adaptive")
    quick = publishable_report(subject)
    assert "no rehearsal" in quick.sections[-1].blocks[0].text
    assert "Small groups and tails" in titles(publishable_report(subject, rehearsed=True))
