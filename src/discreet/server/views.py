"""What the templates show: what a caller may read without paying, put into the words of the page."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query, Request

from discreet.base.answer import Answer
from discreet.base.numbers import counted, plain
from discreet.curator import question_of
from discreet.errors import UnknownName
from discreet.server.access.auth import caller
from discreet.server.access.tokens import Role
from discreet.server.shelf import Kept
from discreet.server.workspace import context_of

SHOWN_ENTRIES = 25
SHORT_WORDS = 24
"""Longer domains are told by their number of values beside the editor."""

_QUESTION = re.compile(r"(select|with)\b", re.IGNORECASE)

CRUMB = 1e-6
"""What conversions between currencies may leave, and what buys nothing."""

ROUGH, FINE = "0.1", "0.5"
"""The two epsilons in which what is left is told."""


@dataclass(frozen=True, slots=True)
class CountNoise:
    """The expected noise ± of a count of one table, by epsilon; None where it is not known."""

    table: str
    widths: Mapping[str, float | None]


def datasets_view(catalog: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the datasets of GET /catalog as the Ask page lists them."""
    return [
        {
            "name": name,
            "unit": dataset["protects"],
            "neighbours": dataset["neighbours"],
            "delta": dataset["left"]["delta"]["limit"],
            "public_rows": dataset["public_rows"],
            "tables": [_table(table, facts) for table, facts in dataset["tables"].items()],
            "left_words": f"{amount(epsilon['left'])} of {amount(epsilon['limit'])} left",
            "left_amount": amount(epsilon["left"]),
            "limit_amount": amount(epsilon["limit"]),
            "spent": epsilon["spent"],
            "limit": epsilon["limit"],
            "start": start_epsilon(epsilon["left"]),
            "part_left": part_left(epsilon),
        }
        for name, dataset in catalog["datasets"].items()
        for epsilon in [dataset["left"]["epsilon"]]
    ]


def copied_tables_view(datasets: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the private tables that a copy can be made of."""
    return [
        {
            "name": table["name"],
            "value": f"{dataset['name']}.{table['name']}",
            "dataset": dataset["name"],
            "columns": table["columns"],
        }
        for dataset in datasets
        for table in dataset["tables"]
        if not table["public"]
    ]


def _table(name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    columns = [_column(column, domain) for column, domain in facts["columns"].items()]
    return {"name": name, "public": facts["public"], "columns": columns}


def _column(name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    words = str(facts["domain"])
    values = facts.get("values", [])
    if "lower" in facts:
        short = f"{_bound(facts['lower'])} to {_bound(facts['upper'])}"
    elif len(", ".join(values)) <= SHORT_WORDS:
        short = ", ".join(values) or words
    else:
        short = f"{facts['size']:,} values"
    return {"name": name, "values": values, "short": short, "long": ", ".join(values) or words}


def _bound(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,.6g}" if value % 1 else f"{value:,.0f}"


def first_question(datasets: Iterable[Mapping[str, Any]]) -> str:
    """Return a question that is worth asking first: people by a short list of groups."""
    for dataset in datasets:
        for table in dataset["tables"]:
            if not table["public"]:
                return _grouped(table)
    return ""


def _grouped(table: Mapping[str, Any]) -> str:
    lists = [column for column in table["columns"] if 1 < len(column["values"]) <= 60]
    if not lists:
        return f"SELECT COUNT(*) AS n\nFROM {table['name']}"
    key = next((c for c in lists if c["name"] == "region"), lists[0])["name"]
    ages = any(column["name"] == "age" for column in table["columns"])
    where = "\nWHERE age >= 65" if ages else ""
    return f"SELECT {key}, COUNT(*) AS n\nFROM {table['name']}{where}\nGROUP BY {key}"


def budget_view(
    budget: Mapping[str, Any],
    catalog: Mapping[str, Any],
    entries: Iterable[Mapping[str, Any]],
    noise: Mapping[str, CountNoise],
) -> list[dict[str, Any]]:
    """Return GET /budget, /catalog and /history as the Budget page shows them, by dataset.

    `noise` says what a plain count of each dataset would get, from the same place as on Ask.
    """
    history = list(entries)
    listed = {dataset["name"]: dataset for dataset in datasets_view(catalog)}
    return [
        _dataset_view(name, facts, listed[name], history, noise.get(name))
        | {"analysts": _analysts(name, budget.get("analysts", {}))}
        for name, facts in budget["datasets"].items()
    ]


def _dataset_view(
    name: str,
    facts: Mapping[str, Any],
    listed: Mapping[str, Any],
    history: Iterable[Mapping[str, Any]],
    noise: CountNoise | None,
) -> dict[str, Any]:
    epsilon, delta, renewal = facts["epsilon"], facts["delta"], facts.get("renewal")
    mine = [entry for entry in history if entry.get("dataset", entry.get("budget")) == name]
    spent_some = facts["charges"] > 0
    exposures = facts.get("exposures", 0)
    return {
        "name": name,
        "unit": listed["unit"],
        **_gauge(epsilon),
        "delta_words": _delta_words(delta),
        "questions": questions_left(epsilon["left"], noise),
        "asked": spent_some,
        "gone": epsilon["left"] < CRUMB,
        "worst": facts.get("worst_region", "") if spent_some else "",
        "alert": _alert(facts.get("alert"), renewal),
        "alert_word": "Gone" if facts.get("alert") == "spent" else "Nearly gone",
        "renewal": f"This budget {renewal['words']}" if renewal else "",
        "exposures": _exposed(exposures, facts.get("exposed", ())) if exposures else "",
        "history": [_entry(entry) for entry in mine[:SHOWN_ENTRIES]],
        "first_sql": " ".join(first_question([listed]).split()),
    }


def _alert(alert: str | None, renewal: Mapping[str, Any] | None) -> str:
    if alert is None:
        return ""
    what = (
        "Questions about the most exposed people are refused"
        if alert == "spent"
        else "It nears its end"
    )
    then = (
        "until it is renewed"
        if renewal and len(renewal["granted"]) < renewal["at_most"]
        else "and it does not renew"
    )
    return f"{what}, {then}."


def _exposed(releases: int, columns: Iterable[str]) -> str:
    named = ", ".join(columns)
    which = f" They exposed: {named}." if named else ""
    return f"{counted(releases, 'release')} without a guarantee; see the history.{which}"


def _delta_words(delta: Mapping[str, float]) -> str:
    if not delta["limit"]:
        return ""
    if not delta["spent"]:
        return f"δ {_tiny(delta['limit'])}, untouched"
    return f"δ {_tiny(delta['left'])} of {_tiny(delta['limit'])} left"


def _tiny(value: float) -> str:
    return f"{value:g}".replace("e-0", "e-")


def _analysts(dataset: str, analysts: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"name": name, **_gauge(shares[dataset]["epsilon"])}
        for name, shares in analysts.items()
        if dataset in shares
    ]


def minute_of(moment: object) -> str:
    """Return a moment as the pages show it, to the minute.

    >>> minute_of("2026-11-19T08:30:12+00:00")
    '2026-11-19 08:30'
    """
    return str(moment)[:16].replace("T", " ")


def _entry(entry: Mapping[str, Any]) -> dict[str, str]:
    line = {
        "when": minute_of(entry["time"]),
        "who": "owner",
        "payer": "",
        "used": "",
        "sql": "",
    }
    match entry["kind"]:
        case "charge":
            used = "all" if entry["epsilon"] is None else amount(entry["epsilon"])
            sql = " ".join(str(entry["sql"] or "").split())
            payer = entry["analyst"] or "owner"
            found = line | {"who": str(entry["asker"]), "payer": payer, "used": used}
            found |= {"what": sql or "a release"}
            if entry.get("ending"):
                found["ending"] = str(entry["ending"])
            # A synthetic copy is charged, too; its note is words, not a question to ask again.
            is_question = _QUESTION.match(sql) is not None
            return found | ({"sql": sql, "again": _again(entry)} if is_question else {})
        case "limit":
            whose = f"the share of {entry['analyst']}" if entry["analyst"] else "the limit"
            change = f"{'set' if entry['old'] is None else 'changed'} {whose}{_to(entry['new'])}"
            return line | {"who": str(entry["who"]), "what": change}
        case "exposure":
            return line | {"what": f"released without a guarantee: {entry['reason']}"}
        case "look":
            return line | {"what": f"looked: {entry['reason']}"}
    return line | {"what": str(entry["kind"])}


def _again(entry: Mapping[str, Any]) -> str:
    """Return the address part that opens this answer; where there is none, that asks it again."""
    amount_paid = {} if entry["epsilon"] is None else {"epsilon": f"{entry['epsilon']:.12g}"}
    payer = {} if entry["analyst"] is None else {"analyst": entry["analyst"]}
    if entry["outcome"] == "answered":
        return urlencode({"answer": entry["request_id"], **payer})
    return urlencode({"sql": entry["sql"] or "", **amount_paid, **payer})


def _to(limit: Mapping[str, str] | None) -> str:
    return "" if limit is None else f" to {amount(float(Fraction(limit['epsilon'])))}"


def questions_left(left: float, noise: CountNoise | None) -> str:
    """Return in words how many counts of everybody `left` still pays for, and how exact they are."""
    rough = math.floor(left / float(ROUGH) + 1e-9)
    fine = math.floor(left / float(FINE) + 1e-9)
    if left < CRUMB:
        return "Nothing is left to spend."
    if rough == 0:
        return f"Enough for a last question with ε up to {amount(left)}."
    more = f", or {_counts(fine, FINE, noise)}" if fine else ""
    return (
        f"Enough for {_counts(rough, ROUGH, noise)}{more}, if all are about everybody. "
        "Questions about different groups share the price."
    )


def _counts(number: int, epsilon: str, noise: CountNoise | None) -> str:
    plural = "" if number == 1 else "s"
    if noise is None or noise.widths.get(epsilon) is None:
        return f"{number:,} count{plural} with ε {epsilon}"
    width = noise.widths[epsilon]
    return f"{number:,} count{plural} of {noise.table} with noise ± {width:,.6g} (ε {epsilon})"


_STEPS = (10, 5, 4, 3, 2, 1.5, 1, 0.75, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05, 0.02, 0.01)


def start_epsilon(left: float) -> str:
    """Return what a form for something large begins with: a round part of what is left, never all."""
    quarter = min(1.0, left / 4)  # more is seldom worth it
    return f"{next((step for step in _STEPS if step <= quarter), max(quarter, CRUMB)):.4g}"


def start_of(datasets: Iterable[Mapping[str, Any]], name: str) -> str:
    """Return what a form about one of the listed datasets begins with; nothing where there is none."""
    return next((str(each["start"]) for each in datasets if each["name"] == name), "")


def kept_view(kept: Kept) -> dict[str, Any]:
    """Return what pages show of anything that lies on a shelf: its facts, when it was made, who paid."""
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(kept.created))
    return kept.to_json() | {"when": when, "who": getattr(kept, "analyst", None) or "owner"}


def _gauge(epsilon: Mapping[str, float]) -> dict[str, Any]:
    left, limit = amount(epsilon["left"]), amount(epsilon["limit"])
    return {"left": left, "limit": limit, "part_left": part_left(epsilon)}


def part_left(epsilon: Mapping[str, float]) -> float:
    """Return what share of a limit is left, between 0 and 1."""
    return min(1.0, max(0.0, epsilon["left"] / epsilon["limit"])) if epsilon["limit"] else 0.0


def amount(value: float) -> str:
    """Return an amount of budget: two digits after the point, more where there are more; never 0 for more.

    >>> amount(0.5), amount(1234.0), amount(0.00012), amount(1e-9)
    ('0.50', '1,234.00', '0.00012', '1e-9')
    """
    text = plain(Fraction(repr(value)))
    if "e" in text:
        return text
    whole, _, digits = text.partition(".")
    sign = "-" if whole.startswith("-") else ""
    return f"{sign}{int(whole.lstrip('-')):,}.{digits.ljust(2, '0')}"


AnalystQuery = Annotated[str | None, Query(max_length=200)]
"""The analyst whose answer an owner asks for."""


def readable_catalog(request: Request) -> dict[str, Any]:
    """Return the datasets that the caller may see: tables, columns, domains, units, and what is left."""
    who = caller(request)
    with context_of(request).workspace.curator() as curator:
        if who.role is Role.REVIEWER:
            return curator.datasets_report()
        return curator.outline(who.analyst)


def readable_budget(request: Request) -> dict[str, Any]:
    """Return what is spent and left: the caller's own share, or everything for owner and reviewer."""
    who = caller(request)
    with context_of(request).workspace.curator() as curator:
        if who.role is Role.ANALYST:
            return {"analyst": who.analyst, **curator.share_report(who.analyst)}
        if who.role is Role.REVIEWER:
            # Which group is most exposed follows from all questions: for the owner's eyes only.
            return {
                "analyst": None,
                **curator.share_report(),
                "analysts": curator.analysts_report(),
            }
        found = dict(curator.budget_report())
        found.pop("without_budget", None)
        return found


def readable_answer(
    request: Request, request_id: str, analyst: str | None
) -> tuple[Answer, dict[str, Any]]:
    """Return a stored answer that the caller may read, and what was asked for it."""
    payer = caller(request).asks_as(analyst).analyst
    with context_of(request).workspace.curator() as curator:
        share = curator.account_of(payer)
        found = curator.stored_answer(request_id, analyst=share)
        question = question_of(curator, request_id, share)
    if found is None or question is None:
        raise UnknownName("You have no answer under this request id.")
    return found, question
