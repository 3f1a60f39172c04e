"""Every setting that may be written has its paragraph in the documentation."""

import re
from pathlib import Path

import pytest

from discreet.data.catalog import file_shape as shape
from discreet.data.catalog.file_shape import shape_of
from discreet.errors import CatalogError

DOCS = Path(__file__).parents[4] / "docs" / "catalog.md"

SECTIONS = {
    "[engine]": shape.EngineShape,
    "[ledger]": shape.LedgerShape,
    "[datasets.NAME]": shape.DatasetShape,
    "[datasets.NAME.tables.NAME]": shape.TableShape,
    "[datasets.NAME.tables.NAME.columns]": shape.ColumnShape,
    "[storage]": shape.StorageShape,
    "[budgets.NAME]": shape.BudgetShape,
    "[analysts.NAME]": shape.AnalystShape,
}


def sections():
    parts = re.split(r"^## (.*)$", DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("title", SECTIONS)
def test_each_setting_has_its_paragraph_and_no_other_has(title):
    described = set(re.findall(r"\*\*`(\w+)`\*\*", sections()[title]))
    known = set(SECTIONS[title].model_fields)
    if title == "[analysts.NAME]":
        known |= set(shape.CapShape.model_fields)
    assert described == known


def test_each_top_level_section_is_described():
    titles = {re.split(r"[\[\].]", title)[1] for title in SECTIONS}
    assert titles == set(shape.FileShape.model_fields)


def test_each_option_of_init_is_described():
    import inspect

    from discreet.cli.owner import init

    text = sections()["`discreet init`"]
    for name in inspect.signature(init).parameters:
        assert name == "files" or f"--{name.replace('_', '-')}" in text


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ({"datasets": 3}, r"f: \[datasets\] must be a table of settings"),
        ({"datasets": {"d": 3}}, "f: dataset 'd' must be a table of settings"),
        ({"engine": {"url": 3}}, r"f: \[engine\]: 'url' must be a text"),
        ({"datasets": {"tables": {"tables": 3}}}, "f: .*dataset 'tables'.*table of settings"),
        ({"analysts": {"a": {"datasets": {"d": {"eps": 1}}}}}, "dataset 'd' of analyst 'a'"),
    ],
)
def test_places_are_named(raw, sentence):
    with pytest.raises(CatalogError, match=sentence):
        shape_of(raw, file="f")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"encrypted": "yes"}, "[storage]: 'encrypted' must be true or false."),
        ({"encypted": True}, "Did you mean 'encrypted'?"),
    ],
)
def test_a_mistake_in_storage_is_told_by_its_place(raw, words):
    with pytest.raises(CatalogError, match=re.escape(words)):
        shape.shape_of({"storage": raw}, file="discreet.toml")
