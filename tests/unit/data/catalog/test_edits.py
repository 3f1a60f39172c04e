"""Changes to the text of a discreet.toml: what was meant changes, and nothing else."""

from __future__ import annotations

import datetime as dt
import tomllib
from decimal import Decimal
from pathlib import Path

import pytest

from discreet.data.catalog.edits import (
    accepted,
    comments_of,
    declared_settings,
    declared_tables,
    hidden,
    with_columns,
    with_new_name,
    with_renewal,
    with_settings,
    with_share,
    with_totals,
    without_dataset,
)
from discreet.data.catalog.policy_file import loads
from discreet.errors import CatalogError, UnknownName

TEXT = """# mine
[datasets.shop]
epsilon = 1.0  # agreed in May
neighbours = "add-remove"

[datasets.shop.tables.orders]
source = "orders.csv"  # daily
unit = "row"

[datasets.shop.tables.orders.columns]
# Seen: 3 distinct.
kind = { type = "category", values = [
    "a", "b",
], same = { a = ["A"] }, review = true }
cost = { type = "number", lower = 0, upper = 10.5, step = 0.5, review = true }  # euros
note = { type = "text", hidden = true }

[datasets."other one"]
epsilon = 2
[datasets."other one".tables.t]
source = "t.csv"
unit = "row"
[datasets."other one".tables.t.columns]
x = { type = "boolean" }
"""


def test_columns_are_accepted_and_hidden_in_place():
    text = with_columns(TEXT, "shop", "orders", {"kind": accepted, "cost": hidden})
    table = loads(text, base=Path()).table("orders")
    assert table.column("kind").reviewed
    assert table.column("kind").spelling.same == (("a", ("A",)),)
    assert table.column("cost").hidden
    for kept in ("# mine", "# agreed in May", "# Seen: 3 distinct.", "# daily"):
        assert kept in text
    before, after = tomllib.loads(TEXT), tomllib.loads(text)
    assert before["datasets"]["other one"] == after["datasets"]["other one"]


def test_settings_come_back_as_they_are_written():
    found = declared_settings(TEXT, "shop", "orders")
    assert found["kind"]["values"] == ("a", "b")
    assert found["kind"]["same"] == {"a": ("A",)}


OWN = """# of the file
[datasets.shop]  # of the shop
epsilon = 1.0  # of the budget
# of its promise
renew = { every = "quarter", since = "2026-Q4", epsilon = 0.5, at_most = 4, granted = [
    "2027-Q1", # of a period
] }  # of all periods
[datasets.shop.tables.orders]  # of the table
source = "orders.csv"  # of the source
unit = "row"
[datasets.shop.tables.orders.columns]
kind = { type = "category", values = [
    "a # no comment", # of a value
    'b # no comment',
], review = true }  # of kind
cost = { type = "number", lower = 0, upper = 10.5, step = 0.5 }  # of cost

# of the other
[datasets.other]
epsilon = 2
[datasets.other.tables.t]
source = "t.csv"
unit = "row"
[datasets.other.tables.t.columns]
x = { type = "boolean" }
"""


ORDERS = ("datasets", "shop", "tables", "orders")


def owners(text):
    """Return the comments of a text, sorted."""
    return sorted(comments_of(text))


EDITS = {
    "columns": lambda text: with_columns(
        text, "shop", "orders", {"kind": accepted, "cost": hidden}
    ),
    "source": lambda text: with_settings(text, ORDERS, {"source": "new.csv"}),
    "name": lambda text: with_new_name(text, "shop", "store"),
    "amounts": lambda text: with_settings(text, ("datasets", "shop"), {"epsilon": Decimal(3)}),
    "totals": lambda text: with_totals(text, {"epsilon": Decimal(3)}),
    "share": lambda text: with_share(text, "ann", "shop", {"epsilon": Decimal(1)}),
    "renewal": lambda text: with_renewal(
        text, loads(text, base=Path()), "shop", dt.date(2027, 4, 1)
    ),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_comment_of_the_owner_survives(edit, end):
    text = OWN.replace("\n", end)
    new = EDITS[edit](text)
    assert new != text
    assert owners(new) == owners(OWN)
    assert len(owners(OWN)) == 12
    loads(new, base=Path())


def test_a_removed_dataset_takes_its_own_comments_alone():
    new = without_dataset(OWN, "shop")
    assert owners(new) == ["# of the file", "# of the other"]


def test_a_note_behind_a_line_stays_there():
    new = EDITS["source"](OWN)
    assert 'source = "new.csv"  # of the source\n' in new
    new = EDITS["columns"](OWN)
    assert "# of a value\nkind = {" in new
    assert "hidden = true }  # of cost\n" in new
    assert "[datasets.store]  # of the shop\n" in EDITS["name"](OWN)
    assert "[budgets.shop]\nepsilon = 1.0  # of the budget\n" in EDITS["name"](OWN)


def test_a_column_that_stands_elsewhere_is_refused():
    spread = TEXT.replace(
        'note = { type = "text", hidden = true }\n',
        '[datasets.shop.tables.orders.columns.note]\ntype = "text"\nreview = true\n',
    )
    with pytest.raises(CatalogError, match="in a way that we do not change"):
        with_columns(spread, "shop", "orders", {"note": accepted})


def test_a_renamed_dataset_draws_on_its_old_budget():
    text = with_new_name(TEXT, "shop", "store 2")
    catalog = loads(text, base=Path())
    assert catalog.dataset("store 2").budget == "shop"
    old = loads(TEXT, base=Path())
    assert catalog.budget_of(catalog.dataset("store 2")) == old.budget_of(old.dataset("shop"))
    again = loads(with_new_name(text, "store 2", "third"), base=Path())
    assert again.dataset("third").budget == "shop"
    for taken in ("other one", "shop"):
        with pytest.raises(CatalogError, match="already"):
            with_new_name(text, "store 2", taken)


def test_a_removed_dataset_leaves_the_others():
    text = without_dataset(TEXT, "shop")
    assert set(loads(text, base=Path()).datasets) == {"other one"}
    assert "datasets" not in tomllib.loads(without_dataset(text, "other one"))
    with pytest.raises(UnknownName):
        without_dataset(text, "shop")


def test_a_table_gets_another_source():
    text = with_settings(TEXT, ORDERS, {"source": "new.csv"})
    assert loads(text, base=Path()).table("orders").source == "new.csv"


def test_unfinished_tables_can_be_looked_at():
    open_text = TEXT.replace('unit = "row"\n', "", 1).replace(
        "epsilon = 1.0  # agreed in May\n", ""
    )
    _, tables = declared_tables(open_text, base=Path(), file="discreet.toml")
    first = tables[0]
    assert (first.unit_known, first.budget_known) == (False, False)
    assert first.waiting == ("kind", "cost")
    assert tables[1].waiting == ()
