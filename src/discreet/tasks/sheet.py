"""`discreet.sheet`: a data-protection impact sheet; and `discreet.storage`: what encrypts each place.

The sheet says what was declared and what was spent. The storage report says where rows, answers and charges lie
at rest.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.base.display import ShownInLines, ShownLines
from discreet.base.numbers import counted, plain
from discreet.base.schema import Dataset, Refresh, Table
from discreet.curator import Curator
from discreet.curator import open as open_curator
from discreet.curator.curator import found_config
from discreet.curator.opened_catalog import StoredPlace, places_of
from discreet.data.catalog.catalog import outline
from discreet.data.catalog.policy_file import load
from discreet.privacy.account.explain import explain
from discreet.show import Document, Grid, Paragraph, Section


@dataclass(frozen=True, slots=True, repr=False)
class StorageReport(ShownInLines):
    """Every place that holds something private, and what the catalog asks of them."""

    required: bool
    vouched: str
    places: tuple[StoredPlace, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet storage --json` prints."""
        found = [
            {"what": p.what, "path": p.path, "at_rest": p.volume.rest.value, "how": p.volume.how}
            for p in self.places
        ]
        return {"required": self.required, "vouched": self.vouched, "places": found}

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return [
            (place.what, f"{place.volume.rest.value}, {place.volume.how}: {place.path}")
            for place in self.places
        ]


def storage(config: str | Path | None = None) -> StorageReport:
    """Return where rows, answers and charges lie at rest, and what encrypts each place; reads no row.

    >>> discreet.storage("discreet.toml").to_json()["required"]             # doctest: +SKIP
    False
    """
    catalog = load(found_config(config))
    asked = catalog.storage
    return StorageReport(asked.encrypted, asked.vouched, places_of(catalog))


ASKED_OF_PEOPLE = (
    "What is the purpose of the processing, and why is it necessary and proportionate to it (Art. 35 (7) a, b)?",
    "On which legal ground are the rows held, and for how long? Who erases them, and from which copies?",
    "Were the people told that statistics about them are answered under this promise? Were they, or their representatives, asked (Art. 35 (9))?",
    "Do the same people stand in other data sets with budgets of their own, here or elsewhere? Their losses add up.",
    "Are the bounds of every column public knowledge, and not read from these rows?",
    "Who may read the files and the machine themselves? Discreet protects answers, not disks.",
    "Which harm would the loss of a person's secret do here, and is the total below small enough for that?",
)


_PERIOD = "Questions read newer rows {}: between two such moments nobody who asks can see whether rows have changed."
_REFRESHED = {
    Refresh.MANUAL: _PERIOD.format("when the owner says so"),
    Refresh.HOURLY: _PERIOD.format("every hour"),
    Refresh.DAILY: _PERIOD.format("every day"),
    Refresh.WEEKLY: _PERIOD.format("every week"),
    Refresh.MONTHLY: _PERIOD.format("every month"),
    Refresh.ON_CHANGE: "Questions read newer rows whenever rows change: anyone who may ask can see that the data changed.",
}


def sheet(config: str | Path | None = None) -> Document:
    """Return a data-protection impact sheet of a catalog; spends nothing and looks at no row.

    >>> discreet.sheet("discreet.toml").write("sheet.html")                 # doctest: +SKIP
    """
    with open_curator(config) as curator:
        datasets = curator.catalog.datasets.values()
        sections = [_section(curator, dataset) for dataset in datasets]
        history = _history(curator)
    return Document(
        title="Data-protection impact sheet",
        subtitle="Written from discreet.toml and the ledger; no row was read",
        warning=None,
        sections=(*sections, *history, _measures(), _outside(), _open_questions()),
    )


def _section(curator: Curator, dataset: Dataset) -> Section:
    facts = outline(curator.catalog, (dataset.name,))[dataset.name]
    budget = curator.catalog.budget_of(dataset)
    spent = curator.budget_report()["datasets"][dataset.name]
    meaning = explain(budget.epsilon, delta=budget.delta, neighbours=dataset.neighbours)
    blocks: list[Any] = [
        Paragraph(f"Protected: {facts['protects']}."),
        Paragraph(
            f"In all, whatever is asked by whomever, at most epsilon {plain(budget.epsilon.value)}"
            + (f" and delta {plain(budget.delta.value)}" if budget.delta.value else "")
            + f" is lost; {spent['epsilon']['spent']:g} is spent. {meaning.text}"
        ),
    ]  # fmt: skip
    blocks.append(Paragraph(_REFRESHED[dataset.refresh]))
    if budget.renewal is not None:
        blocks.append(
            Paragraph(f"This budget {budget.renewal.words(budget.epsilon)}", warning=True)
        )
    if dataset.accepted:
        blocks.append(
            Paragraph("Domains were read from the data and declared public unseen.", warning=True)
        )
    if spent["exposures"]:
        exposed = ", ".join(spent["exposed"]) or "some columns"
        blocks.append(
            Paragraph(
                f"{counted(spent['exposures'], 'release')} without any guarantee. They exposed: {exposed}.",
                warning=True,
            )
        )
    blocks.append(_columns(dataset))
    blocks.append(_askers(curator, dataset))
    return Section(f"Data set {dataset.name}", tuple(blocks))


def _columns(dataset: Dataset) -> Grid:
    rows = [
        (
            table.name,
            column.name,
            "hidden: no question reads it" if column.hidden
            else "waits for the owner's review" if not column.reviewed
            else "public facts" if table.public
            else "may be asked about",
            _most_rows(table),
        )
        for table in dataset.tables
        for column in table.columns
    ]  # fmt: skip
    headers = ("table", "column", "processing", "rows of one person that count, at most")
    return Grid.of(
        headers, rows, "What is processed, by column. Columns that are not listed are not read."
    )


def _most_rows(table: Table) -> int | str | None:
    """Return how many rows of a person count, and whether a question may ask for another number."""
    if table.unit is None or table.unit.is_row or table.bounded:
        return table.max_rows
    if table.max_rows is None:
        return "as many as a question asks for"
    return f"{table.max_rows:,} unless a question asks for another number"


def _askers(curator: Curator, dataset: Dataset) -> Grid:
    rows = [
        (analyst, plain(caps[dataset.name].epsilon.value))
        for analyst, caps in sorted(curator.catalog.analysts.items())
        if dataset.name in caps
    ]
    said = "Who may ask, and the epsilon of their share. The total above holds for all of them together."
    return Grid.of(("analyst", "share"), rows or [("the owner alone", None)], said)


def _history(curator: Curator) -> tuple[Section, ...]:
    kinds = Counter(
        (entry["kind"], entry.get("dataset") or entry.get("budget") or "")
        for entry in curator.history(last=1_000_000)
    )
    words = {
        "charge": "answers paid for",
        "release": "steps of published releases",
        "exposure": "releases without a guarantee",
        "look": "looks of the owner at rows",
        "limit": "changes of limits",
        "restore": "restored backups",
    }
    rows = [
        (words[kind], name, count) for (kind, name), count in sorted(kinds.items()) if kind in words
    ]
    if not rows:
        return ()
    caption = "Counted from the ledger, whose entries cannot be changed or taken out unnoticed."
    return (
        Section("What happened so far", (Grid.of(("what", "where", "how often"), rows, caption),)),
    )


def _measures() -> Section:
    rows = [
        ("a person is singled out from answers", "noise of a stated law, calibrated to what one person can change, for all answers together"),
        ("answers are combined over time or by several analysts", "one ledger counts all of them for the worst-hit person; it refuses what goes beyond the total"),
        ("small groups show", "groups that are not declared appear only if a noisy count passes a threshold, with a chance of at most delta for a group of one"),
        ("errors, prices or times tell about rows", "prices do not depend on rows; errors hold no value; time is bounded, not hidden"),
        ("an operator takes back what was spent", "a hash chain with its head outside; restored backups keep what was spent"),
        ("somebody acts unseen", "tokens with roles, an audit log that cannot be changed unnoticed"),
    ]  # fmt: skip
    caption = "Measures (Art. 35 (7) d). Each is a test of the product: docs/evidence.md."
    return Section(
        "Risks and what is done about them", (Grid.of(("risk", "measure"), rows, caption),)
    )


def _outside() -> Section:
    words = (
        "Not inside the promise: what is learnt about groups and holds for a person who never took part; releases without a guarantee, listed above; "
        "how long answers take; other data sets with the same people; whoever can read the rows themselves."
    )
    return Section("What remains", (Paragraph(words, warning=True),))


def _open_questions() -> Section:
    rows = [(question, "") for question in ASKED_OF_PEOPLE]
    caption = "A program cannot answer these. The sheet is no assessment without them."
    return Section("For people to answer", (Grid.of(("question", "answer"), rows, caption),))
