"""sheet.html: a release's privacy and accuracy, in plain words."""

from __future__ import annotations

from discreet.account.explain import beside_facts_sentence, one_sentence
from discreet.core.numbers import plain
from discreet.publish.contents import Contents
from discreet.publish.verify import CANNOT_PROVE
from discreet.report import Document, DocumentBlock, Grid, Paragraph, Section, to_html

TRUST = (
    "The owner holds the rows and added the noise: readers trust the owner to have followed the "
    "procedure, and nobody else. What leaves the owner is this package."
)
SMALL_CELLS = (
    "Reconciled counts are whole and never negative, so small cells lean upwards and the large ones "
    "that they add up to lean down a little. For sums over many small cells use the noisy "
    "measurements, which are unbiased."
)


def sheet(contents: Contents) -> bytes:
    """Return the page; like the rest of the package it says nothing that is not noisy or public."""
    warning = None if contents.private else "NOT PRIVATE: made with a seeded generator, for tests"
    document = Document(
        title=contents.name,
        subtitle=f"A release of the dataset {contents.dataset}, {contents.created}",
        warning=warning,
        sections=(
            Section("The promise", _promise(contents)),
            Section("Tables", _tables(contents)),
            Section("Noise", (_noise(contents),)),
            Section("Exact facts and rules", _exact(contents)),
            Section("What it supports", _supports(contents)),
            Section("Check it yourself", _checking()),
        ),
    )
    return to_html(document).encode()


def _promise(contents: Contents) -> tuple[DocumentBlock, ...]:
    price = f"epsilon {plain(contents.epsilon)}, delta {plain(contents.delta)}"
    price += "" if contents.rho is None else f" (rho {float(contents.rho):.4g} in zCDP)"
    facts = any(fact.source == "data" for fact in contents.facts)
    whole = "for everything that is noisy here" if facts else "for everything in this package"
    who = (
        f"Protects: {contents.unit}. Neighbours: {contents.neighbours}. Price: {price}, {whole} "
        "together."
    )
    said = beside_facts_sentence if facts else one_sentence
    odds = said(contents.epsilon, delta=contents.delta, neighbours=contents.neighbours)
    warnings = [Paragraph(text, warning=True) for text in contents.warnings]
    return (*warnings, Paragraph(who), Paragraph(odds), Paragraph(TRUST))


def _tables(contents: Contents) -> tuple[DocumentBlock, ...]:
    rows = [
        (table.name, table.sql, table.rows.num_rows, f"tables/{table.name}.csv")
        for table in contents.tables
    ]
    words = (
        "All tables add up to each other exactly. Intervals hold the value without noise with 95% "
        "probability; they say nothing of mistakes in the rows themselves."
    )
    return (Grid.of(("table", "what it counts", "rows", "file"), rows, "Tables"), Paragraph(words))


def _noise(contents: Contents) -> Grid:
    rows = [
        (
            e.measurement,
            f"discrete {e.law}",
            e.noise.scale_shown,
            e.cells,
            f"measurements/{e.measurement}.csv",
        )
        for e in contents.events
    ]
    return Grid.of(("measurement", "law", "scale", "cells", "file"), rows, "Noisy measurements")


def _exact(contents: Contents) -> tuple[DocumentBlock, ...]:
    blocks: list[DocumentBlock] = []
    for fact in contents.facts:
        if fact.source == "file":
            told = "taken from a published file; it changes no guarantee"
        else:
            told = f"computed from the rows and approved by {fact.approver}; it has no guarantee"
        text = f"{fact.name}: {told}. Reason: {fact.reason}."
        blocks.append(Paragraph(text, warning=fact.source == "data"))
    blocks += [
        Paragraph(f"Zero by rule: {rule.text} (in {rule.table}).") for rule in contents.rules
    ]
    return tuple(blocks) or (Paragraph("None."),)


def _supports(contents: Contents) -> tuple[DocumentBlock, ...]:
    well = [Paragraph(f"Well: {text}") for text in contents.well]
    badly = [Paragraph(f"Badly: {text}", warning=True) for text in contents.badly]
    return (*well, *badly, Paragraph(SMALL_CELLS, warning=True))


def _checking() -> tuple[DocumentBlock, ...]:
    command = (
        "discreet verify RELEASE.zip --key KEY, or python verify.py RELEASE.zip --key KEY with the "
        "file verify.py of this package or, better, of another source."
    )
    cannot = "What no check of this package can prove: " + "; ".join(CANNOT_PROVE) + "."
    return (Paragraph(command), Paragraph(cannot))
