"""The golden files: pairs of a question and what becomes of it, read and written."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

from discreet.ask.plan.plan import PrivateGroups, ask, make_plan
from discreet.ask.release.answer import mechanism_words
from discreet.ask.release.desk import Request
from discreet.ask.release.error_bars import allowed_errors, expected_errors, least_epsilon
from discreet.ask.release.sealing import seal
from discreet.ask.sql.bind import bind
from discreet.base.event import Composed, Failing, Gaussian, Laplace, Pure, Select
from discreet.base.numbers import plain
from discreet.data.catalog.catalog import engine_name
from discreet.data.catalog.policy_file import load
from discreet.errors import DiscreetError
from discreet.testing import FakeEngine

HERE = Path(__file__).resolve().parent
DIALECTS = ("duckdb", "postgres", "spark")
MARK = "--> "

# The way a source keeps a column need not be the way it was declared.
STORED = {
    "identifier": "BIGINT",
    "text": "VARCHAR",
    "category": "VARCHAR",
    "integer": "INTEGER",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
ODDLY_STORED = {
    "census.people": {
        "shoe size": "VARCHAR",
        "joined": "TIMESTAMP",
        "zip": "INTEGER",
        "debt": "BIGINT",
    },
    "clinic.visits": {"cost": "DECIMAL(18,4)", "emergency": "VARCHAR", "patient_id": "VARCHAR"},
    "clinic.patients": {"insured": "INTEGER", "patient_id": "VARCHAR"},
    "survey.forms": {"age": "DOUBLE"},
}


@dataclass(frozen=True)
class Pair:
    """A question, its options, and what was planned for it."""

    options: dict[str, str]
    sql: str
    outcome: str

    @property
    def text(self) -> str:
        settings = " ".join(f"{name}={value}" for name, value in self.options.items())
        head = f"-- {settings}\n" if settings else ""
        return f"{head}{self.sql}\n{textwrap.indent(self.outcome, MARK, lambda _: True)}\n"


def read(path: Path) -> tuple[str, list[Pair]]:
    """Return the first paragraph of a golden file and its pairs."""
    head, *paragraphs = re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip())
    return head, [_pair(paragraph.splitlines()) for paragraph in paragraphs]


def _pair(lines: list[str]) -> Pair:
    options: dict[str, str] = {}
    if lines[0].startswith("-- "):
        options = dict(part.split("=", 1) for part in lines.pop(0)[3:].split())
    asked = [line for line in lines if not line.startswith(MARK.rstrip())]
    told = [line[len(MARK) :] for line in lines if line.startswith(MARK.rstrip())]
    return Pair(options, "\n".join(asked), "\n".join(told))


def write(path: Path, head: str, pairs: list[Pair]) -> None:
    """Write a golden file; the diff is read like code."""
    path.write_text("\n\n".join([head, *(p.text.rstrip() for p in pairs)]) + "\n", encoding="utf-8")


@cache
def catalog():
    return load(HERE / "catalog.toml")


@cache
def engine(dialect: str) -> FakeEngine:
    tables = {}
    for dataset in catalog().datasets.values():
        for table in dataset.tables:
            name = engine_name(dataset, table)
            kinds = {
                column.name: STORED[type(column.domain).__name__.removesuffix("Domain").lower()]
                for column in table.columns
            }
            tables[name] = kinds | ODDLY_STORED.get(name, {})
    return FakeEngine(tables, dialect=dialect, canonical=dialect == "duckdb")


def planned(pair: Pair) -> str:
    """Return what is planned for a question: whom it touches, what it costs, what would run."""
    options = pair.options
    request = Request.of(
        pair.sql,
        epsilon=None if "within" in options else options.get("epsilon", "1"),
        within=options.get("within"),
        max_rows=int(options["max_rows"]) if "max_rows" in options else None,
    )
    statement = bind(pair.sql, catalog(), max_rows=request.max_rows)
    snapshots = {t.name: "1" for d in catalog().datasets.values() for t in d.tables}
    question = ask(statement, catalog(), snapshots)
    delta = catalog().budget_of(question.dataset).delta
    epsilon = request.epsilon or least_epsilon(
        question, allowed_errors(request.within, question, None), delta
    )
    plan = make_plan(question, epsilon=epsilon, budget_delta=delta)
    sealed = {dialect: seal(plan, catalog(), engine(dialect)) for dialect in DIALECTS}
    found = {(repr(each.mechanisms), each.region) for each in sealed.values()}
    assert len(found) == 1, "the kernel finds the same on every engine"
    region = sealed["duckdb"].region
    plan = replace(plan, mechanisms=sealed["duckdb"].mechanisms)
    quote = sealed["duckdb"].quote(plan)
    errors = ", ".join(f"{n} {_error(x)}" for n, x in expected_errors(plan).items())
    lines = [
        f"shows {', '.join(name for name, _ in question.outputs)}",
        f"groups {_groups(question.groups)}",
        f"touches {catalog().describe_region(question.region if question.region.empty else region)}",
        f"costs {'nothing' if question.region.empty else quote.cost}",
        f"error {errors or 'none'}",
        f"event {event_words(plan.mechanisms.event)}",
        *mechanism_words(plan),
    ]
    seen: dict[str, list[str]] = {}
    for dialect in DIALECTS:
        text = "\n".join(read.draft.sql for read in sealed[dialect].reads)
        seen.setdefault(text, []).append(dialect)
    for sql, dialects in seen.items():
        lines += [f"{', '.join(dialects)}:", *(f"  {line}" for line in sql.splitlines())]
    return "\n".join(lines)


def refused(pair: Pair) -> str:
    """Return the sentence with which a question is declined."""
    try:
        planned(pair)
    except DiscreetError as error:
        return "\n".join(part for part in (f"{error.kind}: {error.message}", error.hint) if part)
    return "This was not refused."


def _error(half: float | None) -> str:
    return "depends on the data" if half is None else f"± {half:g}"


def _groups(groups) -> str:
    if isinstance(groups, PrivateGroups):
        return "private"
    if not groups.values:
        return "none"
    shown = [
        ", ".join(map(str, values[:6])) + ", …" * (len(values) > 6) for values in groups.values
    ]
    return f"{groups.count:,}: {' x '.join(shown)}"


def event_words(event) -> str:
    """Return an event in one line, with its numbers."""
    match event:
        case Composed(events=events):
            return " and ".join(map(event_words, events))
        case Failing(event=inner, delta=delta):
            return f"{event_words(inner)}, failing with {plain(delta)}"
        case Laplace(scale=scale, l1=l1):
            return f"Laplace(scale {_short(scale)}, l1 {_short(l1)})"
        case Gaussian(sigma_squared=sigma_squared, l2_squared=l2, coordinates=coordinates):
            return f"Gaussian(variance {_short(sigma_squared)}, l2² {_short(l2)}, {coordinates})"
        case Select(epsilon=epsilon) | Pure(epsilon=epsilon):
            return f"{type(event).__name__}({_short(epsilon)})"
        case _:
            return repr(event)


def _short(value: Fraction) -> str:
    return plain(value, significant=8)
