"""Places that must lie encrypted: none is forgotten, and one plain place keeps the catalog shut."""

import json

import pytest

import discreet
from discreet.cli.app import run
from discreet.curator.opened_catalog import check_storage, places_of
from discreet.data.catalog.policy_file import load
from discreet.data.engines.volumes import AtRest, HostSystem, Volume
from discreet.errors import CatalogError

TOML = """
{storage}
[datasets.d]
epsilon = 1
[datasets.d.tables.people]
source = "rows/*.csv"
unit = "row"
[datasets.d.tables.people.columns]
age = {{ type = "integer", lower = 0, upper = 99 }}
"""


class Told(HostSystem):
    """A system that calls every place encrypted but the one whose path holds a word."""

    plain = ""
    swap: tuple = ()

    def volume_of(self, path, layers=0):
        if self.plain and self.plain in str(path):
            return Volume(AtRest.PLAIN, "the disk sda")
        return Volume(AtRest.ENCRYPTED, "dm-crypt (LUKS2)")

    def swaps(self):
        return list(self.swap)


def told(plain="", swap=()):
    made = type("Made", (Told,), {"plain": plain, "swap": swap})
    return made()


@pytest.fixture
def config(tmp_path):
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "a.csv").write_text("age\n30\n40\n")

    def write(storage):
        (tmp_path / "discreet.toml").write_text(TOML.format(storage=storage))
        return tmp_path / "discreet.toml"

    return write


def test_every_place_is_looked_at(config):
    places = places_of(load(config("")), told())
    assert [place.what for place in places] == ["state folder", "ledger", "source"]
    assert places[2].path.endswith("rows")
    swapped = places_of(load(config("")), told(swap=[("/s", Volume(AtRest.PLAIN, "x"))]))
    assert not swapped[-1].good


def test_a_ledger_elsewhere_leaves_its_checkpoints_here(config):
    catalog = load(config('[ledger]\nurl = "postgresql://h/d"\n[storage]\nencrypted = true'))
    places = places_of(catalog, told())
    assert [place.what for place in places] == ["state folder", "ledger's checkpoints", "source"]
    with pytest.raises(CatalogError, match="disk sda"):
        check_storage(catalog, told(catalog.base.name))


@pytest.mark.parametrize("plain", [".discreet", "ledger.db", "rows"])
def test_one_plain_place_keeps_the_catalog_shut(config, plain):
    catalog = load(config("[storage]\nencrypted = true"))
    check_storage(catalog, told())
    with pytest.raises(CatalogError, match="disk sda"):
        check_storage(catalog, told(plain))


def test_what_is_not_asked_for_is_not_checked_and_a_word_is_taken(config):
    check_storage(load(config("")), told("rows"))
    check_storage(load(config('[storage]\nencrypted = true\nvouched = "vol-1"')), told("rows"))


def test_opening_asks_the_system(config, monkeypatch):
    monkeypatch.setattr("discreet.curator.opened_catalog.HostSystem", lambda: told("rows"))
    with pytest.raises(CatalogError, match="asks for encryption"):
        discreet.open(config("[storage]\nencrypted = true"))
    monkeypatch.setattr("discreet.curator.opened_catalog.HostSystem", told)
    discreet.open(config("[storage]\nencrypted = true")).close()


def test_the_command_shows_places(config, monkeypatch, capsys):
    monkeypatch.setattr("discreet.curator.opened_catalog.HostSystem", lambda: told("ledger.db"))
    path = config("[storage]\nencrypted = true")
    assert run(["storage", "--config", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["required"] is True
    assert {p["what"]: p["at_rest"] for p in found["places"]}["ledger"] == "plain"
