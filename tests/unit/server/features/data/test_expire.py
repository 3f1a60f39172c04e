"""Uploads that nobody confirmed go after their time; one that discreet.toml names never does."""

from __future__ import annotations

import os
import time

import pytest

from discreet.errors import InvalidInput, UnknownName
from discreet.server.features.data import uploads as expiring
from discreet.server.features.data.uploads import HOUR, TABLE, UploadBounds, UploadStore
from discreet.server.settings import Settings


@pytest.fixture
def config(tmp_path):
    return tmp_path / "discreet.toml"


@pytest.fixture
def store(tmp_path):
    return UploadStore(tmp_path / ".discreet", UploadBounds(size=1 << 20, spare=0))


def kept(store, *, hours_ago):
    with store.receiving() as place:
        (place / TABLE).write_bytes(b"rows")
        upload = store.keep(place, file="a.csv", columns=("a",), digest="d")
    facts = store.folder / upload.id / "facts.json"
    old = time.time() - hours_ago * HOUR
    facts.write_text(facts.read_text().replace(f'"created": {upload.created}', f'"created": {old}'))
    os.utime(facts, (old, old))
    return upload.id


def expire(config, store, *, hours):
    """Return what was deleted, after seeing that it was told while it was still there."""
    told = []

    def tell(ids):
        assert set(ids) <= there(store)
        told.extend(ids)

    gone = expiring.expire(config, store, hours=hours, tell=tell)
    assert told == gone
    return gone


def there(store):
    return {upload.id for upload in store.all()}


def test_what_is_old_goes_and_what_is_new_stays(config, store):
    old, new = kept(store, hours_ago=25), kept(store, hours_ago=23)
    assert expire(config, store, hours=24) == [old]
    assert there(store) == {new}
    assert not (store.folder / old).exists()
    assert expire(config, store, hours=24) == []
    assert expire(config, store, hours=22) == [new]


def test_what_is_declared_stays_for_ever(config, store):
    used, unused = kept(store, hours_ago=1000), kept(store, hours_ago=1000)
    config.write_text(f'source = ".discreet/uploads/{used}/{TABLE}"\n')
    assert expire(config, store, hours=24) == [unused]
    assert there(store) == {used}


def test_a_file_that_does_not_read_still_protects_what_it_names(config, store):
    used = kept(store, hours_ago=1000)
    config.write_bytes(f"]] broken \xff {used}".encode("latin-1"))
    assert expire(config, store, hours=24) == []
    config.unlink()
    config.mkdir()  # there, and unreadable
    assert expire(config, store, hours=24) == []
    assert there(store) == {used}


def test_what_somebody_works_on_stays(config, store):
    old = kept(store, hours_ago=25)
    assert store.find(old).id == old
    assert expire(config, store, hours=24) == []
    assert there(store) == {old}


def test_what_is_gone_is_not_found(config, store):
    old = kept(store, hours_ago=25)
    expire(config, store, hours=24)
    with pytest.raises(UnknownName):
        store.find(old)


def test_what_cannot_be_told_stays(config, store):
    old = kept(store, hours_ago=25)

    def tell(_ids):
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        expiring.expire(config, store, hours=24, tell=tell)
    assert there(store) == {old}


def test_no_time_at_all_is_refused(config):
    for hours in (0, -1, float("nan")):
        with pytest.raises(InvalidInput, match="more than 0 hours"):
            Settings(config=config, upload_hours=hours)
