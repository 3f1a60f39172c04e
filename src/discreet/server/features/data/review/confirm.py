"""Confirm a review: the one moment at which something about an upload becomes public."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.catalog.declare.amounts import with_section, with_share
from discreet.catalog.declare.compose import composed, dataset_lines, table_lines
from discreet.catalog.read.datasets import neighbours_of
from discreet.core.numbers import Delta, Epsilon
from discreet.engine.kinds import kind_of
from discreet.errors import CatalogError, InternalError, InvalidInput, RequestConflict
from discreet.server.change import change
from discreet.server.features.data.review.review import (
    MissingAnswer,
    Review,
    checked_share,
    settings_of,
    still_open,
)
from discreet.server.features.data.upload.store import Upload, UploadStore
from discreet.server.workspace import Workspace


def confirm(
    workspace: Workspace, store: UploadStore, upload: Upload, review: Review
) -> dict[str, Any]:
    """Return what was declared, after it is in force: queries work from now on."""
    lacking = still_open(review, upload.columns)
    if lacking:
        first = lacking[0]
        where = f"Column '{first.column}': " if first.column else ""
        more = f" {len(lacking) - 1} more to answer." if len(lacking) > 1 else ""
        raise InvalidInput(f"{where}{first.sentence}{more}", hint=f"Step: {first.step}.")

    def edit(text: str, old: Catalog) -> str:
        return declared_text(text, old, store, upload, review, base=workspace.config.parent)

    new = change(workspace, edit).after
    return {
        "dataset": review.dataset,
        "table": review.table,
        "unit": review.unit,
        "analysts": sorted(review.analysts),
        "warnings": [w for w in new.warnings if f"'{review.dataset}'" in w] + _nobody(new, review),
    }


def declared_text(
    text: str, old: Catalog, store: UploadStore, upload: Upload, review: Review, *, base: Path
) -> str:
    """Return the text of discreet.toml with the reviewed table in it, all else as it was."""
    store.find(upload.id)  # an upload that has expired since is not declared
    _refuse_engine(old)
    _refuse_names(old, review)
    _refuse_twice(old, store, upload, review)
    source = Path(os.path.relpath(store.table(upload).resolve(), base.resolve())).as_posix()
    text = with_section(text, declaration(review, source=source))
    for analyst, share in review.analysts.items():
        text = with_share(text, analyst, review.dataset or "", checked_share(analyst, share))
    return text


def open_for(old: Catalog, review: Review) -> list[MissingAnswer]:
    """Return what is open about the names, which only the catalog can tell."""
    try:
        _refuse_names(old, review)
    except (CatalogError, InvalidInput) as error:
        return [MissingAnswer("names", str(error))]
    return []


def dataset_of(catalog: Catalog, store: UploadStore, upload: Upload) -> str | None:
    """Return the dataset that reads an upload, or None while it waits for its review."""
    table = os.path.realpath(store.table(upload))
    for dataset in catalog.datasets.values():
        if any(os.path.realpath(catalog.base / t.source) == table for t in dataset.tables):
            return dataset.name
    return None


def _refuse_engine(old: Catalog) -> None:
    if not kind_of(old.engine_url).files:
        raise CatalogError(
            "This server reads tables of a database, so it cannot serve uploaded files.",
            hint="Load the file into the database and declare the table in discreet.toml.",
        )


def _refuse_names(old: Catalog, review: Review) -> None:
    datasets = {name.lower() for name in (*old.datasets, *old.unfinished, *old.budgets)}
    if review.dataset is not None and review.dataset.lower() in datasets:
        raise InvalidInput(f"There is a dataset or budget '{review.dataset}'; choose another name.")
    tables = {t.name.lower() for d in old.datasets.values() for t in d.tables}
    tables |= {name.lower() for names in old.waiting.values() for name in names}
    if review.table is not None and review.table.lower() in tables:
        # Two tables of one name would break the questions that analysts ask today.
        raise InvalidInput(f"There is a table '{review.table}'; choose another name.")


def _refuse_twice(old: Catalog, store: UploadStore, upload: Upload, review: Review) -> None:
    taken = dataset_of(old, store, upload)
    if taken is not None:
        raise RequestConflict(f"This upload is confirmed already, as dataset '{taken}'.")
    was = store.retired().get(upload.digest)
    if was is not None and was.lower() != (review.dataset or "").lower():
        raise RequestConflict(
            f"The same file was in use as dataset '{was}'. A second budget for the same people "
            "would let them lose twice as much.",
            hint=f"Name it '{was}' again: what was spent then still counts.",
        )
    for other in store.all():
        same = other.digest == upload.digest and other.id != upload.id
        taken = dataset_of(old, store, other) if same else None
        if taken is not None:
            raise RequestConflict(
                f"The same file is in use as dataset '{taken}'. A second budget for the same people "
                "would let them lose twice as much.",
                hint=f"Ask '{taken}', or change its budget.",
            )


def _nobody(new: Catalog, review: Review) -> list[str]:
    if new.analysts and not review.analysts:
        return ["This catalog lists analysts and none of them has a share: nobody can ask yet."]
    return []


def declaration(review: Review, *, source: str) -> str:
    """Return the text that declares the reviewed table as a dataset of its own.

    It holds what the owner has written or confirmed, no comment and no number of the proposal.
    """
    if review.dataset is None or review.table is None or review.epsilon is None:
        raise InternalError("a review was declared before it was finished")
    delta = Delta.of(0 if review.delta is None else review.delta)
    promise = {
        "epsilon": Epsilon.of(review.epsilon).value,
        "delta": delta.value or None,
        "neighbours": neighbours_of(review.neighbours).value,
    }
    facts = {
        "source": source,
        "unit": review.unit or "",
        "max_rows": None if review.unit == "row" else review.max_rows,
    }
    columns = {}
    for name, declared in review.columns.items():
        person = {"type": "identifier", "hidden": False} if name == review.unit else {}
        columns[name] = settings_of(name, declared.model_copy(update=person))
    return composed(
        dataset_lines(review.dataset, promise),
        table_lines(review.dataset, review.table, facts, columns),
    )
