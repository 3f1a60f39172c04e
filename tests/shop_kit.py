"""The catalog of a shop with the rows of two days, and what happens to them between questions."""

from __future__ import annotations

import discreet

DAYS = """
[datasets.shop]
epsilon = {epsilon}
{more}
[datasets.shop.tables.today]
source = "today.csv"
unit = "row"
[datasets.shop.tables.today.columns]
size = {{ type = "integer", lower = 0, upper = 3 }}
[datasets.shop.tables.yesterday]
source = "yesterday.csv"
unit = "row"
[datasets.shop.tables.yesterday.columns]
size = {{ type = "integer", lower = 0, upper = 3 }}
{end}
"""
EVE = "[analysts.eve]\ndatasets = {{ shop = {{ epsilon = {epsilon} }} }}\n"
ROWS = "size\n" + "1\n2\n3\n" * 30
TODAY, YESTERDAY = "SELECT COUNT(*) AS n FROM today", "SELECT COUNT(*) AS n FROM yesterday"


def declared(folder, *, epsilon=2, refresh=None, analysts=False, day=("", ROWS)):
    """Write a catalog of two tables of rows, and their rows: yesterday's and today's."""
    more = "" if refresh is None else f'refresh = "{refresh}"'
    end = EVE.format(epsilon=epsilon) if analysts else ""
    (folder / "discreet.toml").write_text(DAYS.format(epsilon=epsilon, more=more, end=end))
    (folder / "yesterday.csv").write_text(day[0] or "size\n")
    (folder / "today.csv").write_text(day[1])
    return folder


def opened(folder):
    return discreet.open(folder / "discreet.toml")


def a_day_passes(folder):
    """Let today's rows become yesterday's."""
    (folder / "yesterday.csv").write_text((folder / "today.csv").read_text())
    (folder / "today.csv").write_text("size\n")


def spent(curator, dataset="shop"):
    return curator.ledger.spent(dataset).epsilon
