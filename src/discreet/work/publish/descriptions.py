"""Descriptions in a package: codebook, Frictionless data package, CSV on the Web, and the privacy sheet."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from discreet.base.numbers import plain
from discreet.privacy.account.explain import beside_facts_sentence, one_sentence
from discreet.show import Document, DocumentBlock, Grid, Paragraph, Section, to_html
from discreet.work.publish.contents import Contents, MeasureColumn, Measurement, PublishedTable
from discreet.work.publish.verify import CANNOT_PROVE

TEXT, WHOLE, NUMBER = "string", "integer", "number"


def codebook(contents: Contents) -> bytes:
    """Return codebook.csv: one line for each column that holds numbers, and one for each value of a key."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("file", "column", "type", "meaning", "value"))
    values = {(f"tables/{t.name}.csv", k.name): k.values for t in contents.tables for k in t.keys}
    for _, path, fields in _files(contents):
        for name, kind, meaning in fields:
            for value in values.get((path, name), ("",)):
                lines.writerow((path, name, kind, meaning, value))
    return text.getvalue().encode()


def frictionless(contents: Contents) -> bytes:
    """Return datapackage.json: one resource for each CSV member, with its schema and keys."""
    resources = [_resource(name, path, fields) for name, path, fields in _files(contents)]
    return _text(
        {
            "profile": "tabular-data-package",
            "name": _slug(contents.name),
            "title": contents.name,
            "created": contents.created,
            "resources": resources,
        }
    )


def csvw(contents: Contents) -> bytes:
    """Return csv-metadata.json: the same files as a CSVW table group."""
    tables = [
        {
            "url": path,
            "tableSchema": {
                "columns": [
                    {"name": name, "titles": name, "datatype": kind, "dc:description": meaning}
                    for name, kind, meaning in fields
                ],
                **_key(fields),
            },
        }
        for _, path, fields in _files(contents)
    ]
    return _text({"@context": "http://www.w3.org/ns/csvw", "tables": tables})


Fields = list[tuple[str, str, str]]


def fields_of(table: PublishedTable) -> Fields:
    """Return name, type and meaning of each column of a published table."""
    fields = [(key.name, TEXT, key.meaning) for key in table.keys]
    for measure in table.measures:
        step = _step_words(measure)
        ends = (("_low", "lower"), ("_high", "upper"))
        fields.append((measure.name, WHOLE, f"{measure.meaning}, reconciled{step}"))
        fields += [
            (
                f"{measure.name}{end}",
                WHOLE,
                f"{word} end of the 95% interval of {measure.name}{step}",
            )
            for end, word in ends
        ]
    return fields


def _step_words(measure: MeasureColumn) -> str:
    return "" if measure.step == 1 else f", in steps of {plain(measure.step)}"


def measurement_fields(contents: Contents, measurement: Measurement) -> Fields:
    """Return name, type and meaning of each column of a noisy table."""
    keys = {key.name: key for table in contents.tables for key in table.keys}
    names = measurement.rows.schema.names[:-2]
    fields = [(name, TEXT, keys[name].meaning if name in keys else name) for name in names]
    step = next(
        _step_words(measure)
        for table in contents.tables
        for measure in table.measures
        if (table.name, measure.name) == (measurement.table, measurement.measure)
    )
    value = (
        f"{measurement.measure} of {measurement.table} with noise, unbiased, not reconciled{step}"
    )
    return [*fields, ("value", WHOLE, value), ("scale", NUMBER, "scale of the noise")]


def _files(contents: Contents) -> list[tuple[str, str, Fields]]:
    tables = [(t.name, f"tables/{t.name}.csv", fields_of(t)) for t in contents.tables]
    noisy = [
        (f"{m.name}-noisy", f"measurements/{m.name}.csv", measurement_fields(contents, m))
        for m in contents.measurements
    ]
    return tables + noisy


def _resource(name: str, path: str, fields: Fields) -> dict[str, Any]:
    return {
        "name": _slug(name),
        "path": path,
        "profile": "tabular-data-resource",
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "schema": {
            "fields": [
                {"name": field, "type": kind, "description": meaning}
                for field, kind, meaning in fields
            ],
            **_key(fields),
        },
    }


def _key(fields: Fields) -> dict[str, list[str]]:
    """Return the primary key: the grouped columns; a grand total has none."""
    names = [name for name, kind, _ in fields if kind == TEXT]
    return {"primaryKey": names} if names else {}


def _slug(name: str) -> str:
    # Frictionless names: lower case letters, digits, dots, dashes and underscores.
    letters = (c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in name.lower())
    return "".join(letters)


def _text(data: dict[str, Any]) -> bytes:
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()


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
