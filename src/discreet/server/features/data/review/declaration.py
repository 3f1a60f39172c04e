"""A finished review as a section of discreet.toml."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.catalog.declare import toml_text as toml
from discreet.catalog.read.datasets import neighbours_of
from discreet.core.numbers import Delta, Epsilon
from discreet.errors import InternalError
from discreet.server.features.data.review.review import Review, settings_of


def declaration(review: Review, *, source: str) -> str:
    """Return the text that declares the reviewed table as a dataset of its own.

    It holds what the owner has written or confirmed, no comment and no number of the proposal.
    """
    return "\n".join(_lines(review, source)) + "\n"


def _lines(review: Review, source: str) -> Iterator[str]:
    if review.dataset is None or review.table is None or review.epsilon is None:
        raise InternalError("a review was declared before it was finished")
    place = f"datasets.{toml.key(review.dataset)}"
    yield f"[{place}]"
    yield f"epsilon = {toml.number(Epsilon.of(review.epsilon).value)}"
    delta = Delta.of(0 if review.delta is None else review.delta)
    if delta.value:
        yield f"delta = {toml.number(delta.value)}"
    yield f"neighbours = {toml.text(neighbours_of(review.neighbours).value)}"
    yield ""
    place += f".tables.{toml.key(review.table)}"
    yield f"[{place}]"
    yield f"source = {toml.text(source)}"
    yield f"unit = {toml.text(review.unit or '')}"
    if review.unit != "row":
        yield f"max_rows = {review.max_rows}"
    yield ""
    yield f"[{place}.columns]"
    for name, declared in review.columns.items():
        if name == review.unit:
            named = declared.model_copy(update={"type": "identifier", "hidden": False})
            yield f"{toml.key(name)} = {toml.inline_table(settings_of(name, named))}"
        else:
            yield f"{toml.key(name)} = {toml.inline_table(settings_of(name, declared))}"
