"""codebook.csv: every column of every file, what it means and which values it has."""

from __future__ import annotations

import csv
import io

from discreet.publish.contents import Contents
from discreet.publish.package.metadata import TEXT, fields_of, measurement_fields

HEADER = ("file", "column", "type", "meaning", "value")


def codebook(contents: Contents) -> bytes:
    """Return one line for each column that holds numbers, and one for each value of a key."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(HEADER)
    values = {(t.name, k.name): k.values for t in contents.tables for k in t.keys}
    for table in contents.tables:
        for name, kind, meaning in fields_of(table):
            for value in values.get((table.name, name), ("",)) if kind == TEXT else ("",):
                lines.writerow((f"tables/{table.name}.csv", name, kind, meaning, value))
    for each in contents.measurements:
        for name, kind, meaning in measurement_fields(contents, each):
            lines.writerow((f"measurements/{each.name}.csv", name, kind, meaning, ""))
    return text.getvalue().encode()
