"""What the Synthesize pages show: copies and methods in the words of the page."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from discreet.server.features.synth.body import methods_json
from discreet.server.features.synth.copies import Copy
from discreet.synth.report.publishable import SLOW

WORDS = {
    "auto": "Counts the rows, then takes what suits them and the price. The best for most tables.",
    "tree": "Measures pairs of columns along a tree. The quickest.",
    "adaptive": "Measures what it gets wrong, round by round. Better, and takes minutes.",
    "correlated": "Each column given a few others (PrivBayes).",
    "independent": "Each column by itself: keeps no dependence between columns.",
    "random": "Reads no data at all: right types, wrong numbers. Free.",
    "rap": "Fits a relaxed table by gradient descent. Named in a US patent: see the docs.",
}
_DOWNLOADS = (
    ("rows.csv", "CSV"),
    ("rows.parquet", "Parquet"),
    ("model.json", "model"),
    ("report.html", "report"),
    ("report.json", "report as JSON"),
)


def methods_view() -> list[dict[str, Any]]:
    """Return the methods to choose from, each with a sentence."""
    return [
        {"name": each["name"], "words": WORDS.get(each["name"], f"{each['says']}.")}
        for each in methods_json()
    ]


def choice_view() -> list[str]:
    """Return the methods that a paid selection chooses among: those that read data and are quick."""
    return [each["name"] for each in methods_json() if each["reads"] and each["name"] not in SLOW]


def copy_view(copy: Copy) -> dict[str, Any]:
    """Return one copy as the pages show it."""
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(copy.created))
    return {
        "id": copy.id,
        "path": f"/synthesize/{copy.id}",
        "table": copy.table,
        "dataset": copy.dataset,
        "method": copy.method,
        "epsilon": copy.epsilon,
        "rows": f"{copy.rows:,}",
        "columns": len(copy.columns),
        "when": when,
        "who": copy.analyst or "owner",
        "compared": copy.compared,
        "downloads": [
            {"name": words, "path": f"/api/v1/synth/{copy.id}/{file}"} for file, words in _DOWNLOADS
        ],
    }


def tables_view(datasets: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
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
