"""The spelling that the owner declared for a column, checked against its type and its values."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.catalog.read.file_shape import ColumnShape
from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    Domain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
    TimestampDomain,
)
from discreet.core.spelling import MOST_SPELLINGS, Spelling
from discreet.errors import CatalogError

_NUMBERS = (IntegerDomain, NumberDomain)
_DATES = (DateDomain, TimestampDomain)
_MERGED = (CategoryDomain, BooleanDomain)
_FOR: Mapping[str, tuple[type, ...]] = {
    "thousands": _NUMBERS,
    "decimal": _NUMBERS,
    "signs": _NUMBERS,
    "format": _DATES,
    "same": _MERGED,
    "any_case": _MERGED,
    "trim": (*_NUMBERS, *_DATES, *_MERGED, IdentifierDomain),
    "empty": (*_NUMBERS, *_DATES, *_MERGED, IdentifierDomain),
}
"""Which kinds of columns each setting is for."""


def spelling_of(shape: ColumnShape, domain: Domain) -> Spelling:
    """Return how the texts of a column are read, or refuse what its type has no use for."""
    for key, kinds in _FOR.items():
        if getattr(shape, key) and not isinstance(domain, kinds):
            if isinstance(domain, TextDomain):  # nobody reads it, so nothing is spelled
                continue
            raise no_such_setting(shape, key)
    if isinstance(domain, TextDomain):
        return Spelling()
    written = () if shape.format is None else shape.format
    found = Spelling(
        trim=shape.trim,
        any_case=shape.any_case,
        empty=tuple(str(text) for text in shape.empty),
        same=tuple((value, tuple(map(str, forms))) for value, forms in shape.same.items()),
        thousands=shape.thousands or "",
        decimal="." if shape.decimal is None else shape.decimal,
        signs=shape.signs,
        dates=(written,) if isinstance(written, str) else written,
    )
    _check_forms(found, domain)
    return found


def no_such_setting(shape: ColumnShape, key: str) -> CatalogError:
    """Return the refusal of a setting that columns of this type do not have."""
    article = "an" if shape.type[0] in "aeiou" else "a"
    return CatalogError(f"{article} {shape.type} has no '{key}'; remove it.")


def _check_forms(spelling: Spelling, domain: Domain) -> None:
    """Refuse a spelling that would stand for two values, or for one that is not declared."""
    if not (spelling.same or spelling.any_case):
        return
    values = domain.values if isinstance(domain, CategoryDomain) else ("true", "false")
    others = dict(spelling.same)
    for value in others:
        if value not in values:
            raise CatalogError(f"same: '{value}' is not among the values.")
    owners: dict[str, str] = {}
    for value in values:
        for form in (value, *others.get(value, ())):
            said = form.lower() if spelling.any_case else form
            if owners.setdefault(said, value) != value:
                raise CatalogError(f"'{form}' is a spelling of two values; keep one of them.")
    if len(owners) > MOST_SPELLINGS:
        raise CatalogError(
            f"same and any_case are for at most {MOST_SPELLINGS:,} spellings; "
            "convert the column in its source."
        )
