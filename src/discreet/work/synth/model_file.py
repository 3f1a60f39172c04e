"""A fitted model as a file: plain JSON, checked on the way in; nothing in it ever runs."""

from __future__ import annotations

import datetime as dt
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from discreet.base.files import read_text
from discreet.base.numbers import to_fraction
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    FiniteDomain,
    IntegerDomain,
    NumberDomain,
    TimestampDomain,
)
from discreet.errors import DiscreetError, InvalidInput
from discreet.measure.columns import MOST_CODES, Coded, Encoding, MadeUpIdentifier
from discreet.measure.private_marginals import Measured
from discreet.measure.shape import CodeGroups, Shape
from discreet.privacy.noise.laws.registry import LAWS, law_of
from discreet.work.synth.models.conditional_chain import read_network
from discreet.work.synth.models.maximum_entropy import read_layered
from discreet.work.synth.models.model import Model, read_mixture

READERS: dict[str, Callable[[Mapping[str, Any]], Model]] = {
    "network": read_network,
    "layered": read_layered,
    "mixture": read_mixture,
}
"""From the "kind" in a model's JSON to its reader."""


def read_model(data: Mapping[str, Any]) -> Model:
    """Return the model that `to_json` described, or refuse it with a sentence."""
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in READERS:
        raise InvalidInput("This is not a model of a kind that is known here.")
    return READERS[kind](data)


FORMAT = "discreet model"
VERSION = 1
LARGEST = 1 << 30
"""Bytes of the largest file that is read."""


@dataclass(frozen=True, slots=True)
class Saved:
    """Everything that sampling and the report need; all of it was paid for or is public.

    `facts` are plain: method, dataset, cost, unit, notices, whether the noise was private.
    """

    encoding: Encoding
    model: Model
    measured: tuple[Measured, ...]
    rules: tuple[str, ...]
    facts: Mapping[str, Any]

    @property
    def usual_rows(self) -> int:
        """Return how many rows a copy has where nobody says: as many as the table seems to have."""
        return max(0, round(self.model.total))


def to_text(saved: Saved) -> str:
    """Return the file's text; `from_text` reads it back."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "table": saved.encoding.table,
        "columns": [column_to_json(column) for column in saved.encoding.columns],
        "model": saved.model.to_json(),
        "measured": [_measured_json(item) for item in saved.measured],
        "rules": list(saved.rules),
        "facts": dict(saved.facts),
    }
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


def write_model(saved: Saved, path: Path) -> None:
    """Write the model to `path`."""
    try:
        path.write_text(to_text(saved), encoding="utf-8")
    except OSError:
        raise InvalidInput(f"The file '{path}' cannot be written.") from None


def load_model(path: Path) -> Saved:
    """Return the model in a file, or refuse the file with a sentence."""
    try:
        if path.stat().st_size > LARGEST:
            raise InvalidInput(f"'{path.name}' is too large to be a model.")
        text = read_text(path)
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(f"The model '{path}' cannot be read.") from None
    return from_text(text, name=path.name)


def from_text(text: str, *, name: str = "the model") -> Saved:
    """Return the model that `text` describes; every number in it is checked."""
    try:
        data = json.loads(text, parse_constant=_no_constant)
        if data["format"] != FORMAT or data["version"] != VERSION:
            raise InvalidInput("it has another format or version")
        columns = tuple(column_from_json(item) for item in _list(data["columns"]))
        names = [column.name.lower() for column in columns]
        if len(set(names)) != len(names) or not names:
            raise InvalidInput("its columns have no names, or the same name twice")
        encoding = Encoding(_text(data["table"]), columns)
        model = read_model(data["model"])
        if model.shape != encoding.shape:
            raise InvalidInput("its columns and its tables do not fit together")
        measured = tuple(_measured(item, encoding) for item in _list(data["measured"]))
        rules = tuple(_text(rule) for rule in _list(data["rules"]))
        facts = dict(data["facts"])
    except RecursionError:
        raise _bad(name, "it is nested too deeply") from None
    except DiscreetError as error:
        raise _bad(name, error.message.rstrip(".")) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        raise _bad(name, "something in it is missing or of the wrong kind") from None
    return Saved(encoding, model, measured, rules, facts)


def packed(text: str) -> bytes:
    """Return the text of a model as the ledger keeps it."""
    return zlib.compress(text.encode(), 6)


def unpacked(payload: bytes, most: int = LARGEST) -> str:
    """Return the text that `packed` wrote, of at most so many bytes."""
    opened = zlib.decompressobj()
    text = opened.decompress(payload, most)
    if not opened.eof:
        raise InvalidInput("The stored model is too large to be read.")
    return text.decode()


def with_facts(saved: Saved, **facts: Any) -> Saved:
    """Return the same model with some facts replaced."""
    return replace(saved, facts={**saved.facts, **facts})


def _bad(name: str, why: str) -> InvalidInput:
    return InvalidInput(
        f"'{name}' is not a model that can be sampled: {why}.",
        hint="Save one with: discreet synth ... --save-model NAME.json",
    )


def _no_constant(_text: str) -> Any:
    raise ValueError("not a finite number")


def column_to_json(column: Coded | MadeUpIdentifier) -> dict[str, Any]:
    """Return one column as plain JSON, also for other files that hold an encoding."""
    if isinstance(column, MadeUpIdentifier):
        return {"name": column.name, "type": "identifier", "whole": column.whole}
    return {
        "name": column.name,
        **_domain_json(column.domain),
        "edges": None if column.edges is None else list(column.edges),
        "missing": column.missing,
        "open_ends": column.open_ends,
        "stems": column.stems,
    }


def _domain_json(domain: FiniteDomain) -> dict[str, Any]:
    match domain:
        case IntegerDomain(lower=lower, upper=upper):
            return {"type": "integer", "lower": lower, "upper": upper}
        case NumberDomain(lower=low, upper=high, step=step):
            return {"type": "number", "lower": str(low), "upper": str(high), "step": str(step)}
        case CategoryDomain(values=values):
            return {"type": "category", "values": list(values)}
        case BooleanDomain():
            return {"type": "boolean"}
        case DateDomain(lower=first, upper=last):
            return {"type": "date", "lower": first.isoformat(), "upper": last.isoformat()}
        case TimestampDomain(lower=begin, upper=end):
            return {"type": "timestamp", "lower": begin.isoformat(), "upper": end.isoformat()}


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**62:
        raise InvalidInput("a whole number in it is not one")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput("a text in it is not one")
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput("a truth value in it is not one")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput("a list in it is not one")
    return value


def _fraction(value: Any) -> Fraction:
    text = _text(value)
    if len(text) > 2000:
        raise InvalidInput("a number in it is too long")
    return to_fraction(text, name="a number in it")  # refuses 1/0 and 1e999999999


_DOMAINS: dict[str, Callable[[dict[str, Any]], FiniteDomain]] = {
    "integer": lambda d: IntegerDomain(_whole(d["lower"]), _whole(d["upper"])),
    "number": lambda d: NumberDomain(
        _fraction(d["lower"]), _fraction(d["upper"]), _fraction(d["step"])
    ),
    "category": lambda d: CategoryDomain(tuple(_text(value) for value in _list(d["values"]))),
    "boolean": lambda _: BooleanDomain(),
    "date": lambda d: DateDomain(
        dt.date.fromisoformat(d["lower"]), dt.date.fromisoformat(d["upper"])
    ),
    "timestamp": lambda d: TimestampDomain(
        dt.datetime.fromisoformat(d["lower"]), dt.datetime.fromisoformat(d["upper"])
    ),
}


def column_from_json(item: dict[str, Any]) -> Coded | MadeUpIdentifier:
    """Return the column that `column_to_json` wrote."""
    name, kind = _text(item["name"]), _text(item["type"])
    if kind == "identifier":
        return MadeUpIdentifier(name, _truth(item["whole"]))
    if kind not in _DOMAINS:
        raise InvalidInput("a column in it has an unknown type")
    edges = None if item["edges"] is None else tuple(_whole(edge) for edge in item["edges"])
    domain, stems = _DOMAINS[kind](item), _whole(item.get("stems", 0))
    column = Coded(name, domain, edges, _truth(item["missing"]), _truth(item["open_ends"]), stems)
    if not 0 <= stems <= (domain.size if isinstance(domain, CategoryDomain) else 0):
        raise InvalidInput("the stems of a column in it are wrong")
    ascending = edges is None or (
        edges[0] == 0
        and all(edge < after for edge, after in pairwise(edges))
        and edges[-1] < column.positions
    )
    if not ascending or column.size > MOST_CODES:
        raise InvalidInput("the bins of a column in it are wrong")
    return column


def _measured_json(item: Measured) -> dict[str, Any]:
    return {
        "columns": list(item.columns),
        "law": item.law.name,
        "parameter": str(item.law.size),
        "shape": list(item.values.shape),
        "values": item.values.reshape(-1).tolist(),
        "merged": [[column, groups.tolist()] for column, groups in item.merged.items()],
    }


def _measured(item: dict[str, Any], encoding: Encoding) -> Measured:
    shape = encoding.shape
    columns = tuple(_whole(column) for column in _list(item["columns"]))
    if any(not 0 <= column < shape.width for column in columns):
        raise InvalidInput("a measurement in it names no column")
    parameter = _fraction(item["parameter"])
    if parameter <= 0:
        raise InvalidInput("the noise of a measurement in it is not positive")
    if _text(item["law"]) not in LAWS:
        raise InvalidInput("the noise of a measurement in it is of no known law")
    law = law_of(item["law"], parameter)
    values = [_whole(value) for value in _list(item["values"])]
    # Codes may have been counted in groups, so an axis can be shorter than its column.
    sides = tuple(_whole(side) for side in _list(item["shape"]))
    fits = len(sides) == len(columns) and all(
        1 <= side <= size for side, size in zip(sides, shape.of(columns), strict=True)
    )
    if not fits or len(values) != prod(sides):
        raise InvalidInput("a measurement in it has the wrong size")
    merged = _merged(item.get("merged", []), columns, sides, shape)
    return Measured(columns, np.array(values, dtype=np.int64).reshape(sides), law, merged)


def _merged(
    items: Any, columns: tuple[int, ...], sides: tuple[int, ...], shape: Shape
) -> dict[int, CodeGroups]:
    """Return the groups that some columns of a measurement were counted by."""
    found = {}
    for column, written in _list(items):
        groups = np.array([_whole(group) for group in _list(written)], dtype=np.int64)
        fits = column in columns and groups.shape == (shape.sizes[column],)
        if not fits or set(groups.tolist()) != set(range(sides[columns.index(column)])):
            raise InvalidInput("the groups of a measurement in it are wrong")
        found[column] = groups
    return found
