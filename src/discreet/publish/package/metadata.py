"""Descriptions of the files: a codebook, and for other tools a Frictionless data package and CSV on the Web."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from discreet.core.numbers import plain
from discreet.publish.contents import Contents, MeasureColumn, Measurement, PublishedTable

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
