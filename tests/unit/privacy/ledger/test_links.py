from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from discreet.base.proof import ROOT, canonical
from discreet.errors import LedgerTampered
from discreet.privacy.ledger.entry import checked, digest, link


def chain(count: int):
    previous, made = ROOT, []
    for position in range(count):
        made.append(link(position, "look", {"n": position}, previous=previous))
        previous = made[-1].hash
    return made


def walk(links):
    return list(checked(links, position=0, previous=ROOT))


def test_a_whole_chain_passes():
    made = chain(4)
    assert walk(made) == made
    assert list(checked(made[2:], position=2, previous=made[1].hash)) == made[2:]


@pytest.mark.parametrize(
    "damage",
    [
        lambda made: made[1:],
        lambda made: made[:1] + made[2:],
        lambda made: [made[1], made[0], *made[2:]],
        lambda made: [*made[:2], made[1], *made[2:]],
        lambda made: [made[0], replace(made[1], body='{"n":7}'), *made[2:]],
        lambda made: [made[0], replace(made[1], kind="exposure"), *made[2:]],
        lambda made: [made[0], replace(made[1], hash="f" * 64), *made[2:]],
        lambda made: [made[0], replace(made[1], previous=ROOT), *made[2:]],
        lambda made: [made[0], replace(made[1], position=2), *made[2:]],
    ],
)
def test_any_change_is_found(damage):
    with pytest.raises(LedgerTampered, match="damaged at entry"):
        walk(damage(chain(4)))


def test_a_line_rewritten_with_its_own_new_hash_breaks_the_next():
    made = chain(3)
    forged = link(1, "look", {"n": 9}, previous=made[0].hash)
    with pytest.raises(LedgerTampered, match="entry 2"):
        walk([made[0], forged, made[2]])


def test_a_broken_twin_that_forgets_the_body_would_not_notice():
    """The test above can fail: a hash over less than everything lets a change through."""

    def twin(position, kind, previous, body):
        return digest(position, kind, previous, "")

    made = chain(2)
    changed = replace(made[1], body='{"n":7}')
    assert twin(1, "look", made[0].hash, changed.body) == twin(
        1, "look", made[0].hash, made[1].body
    )
    assert digest(1, "look", made[0].hash, changed.body) != made[1].hash


def test_canonical_text_does_not_depend_on_the_order_of_keys():
    assert canonical({"b": 1, "a": [2]}) == canonical({"a": [2], "b": 1}) == '{"a":[2],"b":1}'


def test_a_chain_is_hashed_as_ledgers_on_disk_were():
    """The bytes are a stored format: what was written before must still match its own hash."""
    first, second = chain(2)
    said = "0\nlook\n" + 64 * "0" + '\n{"n":0}'
    assert first.hash == hashlib.sha256(said.encode()).hexdigest()
    said = "1\nlook\n" + first.hash + '\n{"n":1}'
    assert second.hash == hashlib.sha256(said.encode()).hexdigest()
    assert (first.previous, second.previous) == (64 * "0", first.hash)
