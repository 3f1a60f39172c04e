"""The file of a part against plain dicts: what is looked up in it, how it lies on the disk, and damage."""

import hashlib
import random

import pytest

from discreet.errors import LedgerTampered
from discreet.privacy.ledger.checkpoint_records import (
    WIDTHS,
    CheckpointPart,
    PartFacts,
    encoded,
    found_in,
    latest,
    merged,
    number,
)

SIZES = {"requests": (24, 8), "outcomes": (8, 41), "charged": (32, 0), "milestones": (8, 32)}
ROWS = 64


def some(seed: int, many: int) -> dict[str, dict[bytes, bytes]]:
    """Return so many random records for each table; keys of even numbers, with gaps between them."""
    rng = random.Random(seed)
    found = {}
    for name, (key, value) in SIZES.items():
        numbers = rng.sample(range(0, 6 * many + 2, 2), many)
        found[name] = {each.to_bytes(key, "big"): rng.randbytes(value) for each in numbers}
    return found


def part(folder, records) -> CheckpointPart:
    content, facts = encoded(records)
    path = folder / facts.digest
    path.write_bytes(content)
    return CheckpointPart(path, facts)


def by_hand(records) -> tuple[bytes, bytes]:
    """Return pages and directory as note 0071 says they lie on the disk."""
    pages, directory = b"", b""
    for name in SIZES:
        rows = sorted(records[name].items())
        directory += len(rows).to_bytes(8, "big")
        for at in range(0, len(rows), ROWS):
            page = b"".join(key + value for key, value in rows[at : at + ROWS])
            pages += page
            directory += rows[at][0] + hashlib.sha256(page).digest()
    return pages, directory


@pytest.mark.parametrize("many", [0, 1, 63, 64, 65, 200])
def test_a_part_lies_on_the_disk_as_older_ones_do(many):
    """A part is read by later versions, too: other bytes need another VERSION of the checkpoint."""
    records = some(many, many)
    pages, directory = by_hand(records)
    content, facts = encoded(records)
    assert content == pages + directory
    digest = hashlib.sha256(directory).hexdigest()
    assert facts == PartFacts(digest, len(pages), len(content), 4 * many)
    assert PartFacts(*facts.to_json()) == facts
    assert {name: tuple(width) for name, width in WIDTHS.items()} == SIZES


@pytest.mark.parametrize("many", [0, 1, 63, 64, 65, 128, 200])
def test_every_key_is_found_and_no_other(tmp_path, many):
    records = some(many, many)
    made = part(tmp_path, records)
    for name, (key, _) in SIZES.items():
        table = made.tables[name]
        assert len(table) == many
        for each in range(6 * many + 3):
            asked = each.to_bytes(key, "big")
            assert table.find(asked) == records[name].get(asked)
        assert list(table.records()) == sorted(records[name].items())


@pytest.mark.parametrize("many", [0, 1, 64, 65, 200])
def test_the_first_record_from_a_key_on(tmp_path, many):
    records = some(many, many)["milestones"]
    table = part(tmp_path, some(many, many)).tables["milestones"]
    for each in range(6 * many + 3):
        wanted = min((key for key in records if key >= number(each)), default=None)
        found = table.first_from(number(each))
        assert found == (None if wanted is None else (wanted, records[wanted]))


def test_the_last_keys_of_a_prefix_whatever_page_they_are_in(tmp_path):
    owners = [bytes([who]) * 24 for who in (1, 2, 3, 255)]
    places = {owners[0]: range(10), owners[1]: range(5, 300, 3), owners[2]: range(130, 200)}
    records = some(1, 1) | {
        "charged": {who + number(at): b"" for who, all_ in places.items() for at in all_}
    }
    table = part(tmp_path, records).tables["charged"]
    for who in (*owners, bytes(24)):
        mine = [who + number(at) for at in places.get(who, ())]
        for last in (0, 1, 2, 9, 63, 64, 65, 98, 99, 1000):
            assert table.last_of(who, last) == (mine[-last:] if last else [])


def test_of_several_parts_the_latest_value_counts(tmp_path):
    ages = [some(seed, 100) for seed in range(3)]
    parts = []
    for age, records in enumerate(ages):
        (tmp_path / str(age)).mkdir()
        parts.append(part(tmp_path / str(age), records))
    for name, (key, _) in SIZES.items():
        whole = {**ages[0][name], **ages[1][name], **ages[2][name]}
        assert list(latest(parts, name)) == sorted(whole.items())
        for each in range(600):
            asked = each.to_bytes(key, "big")
            assert found_in(parts, name, asked) == whole.get(asked)
        assert merged(parts[0], ages[1])[name] == {**ages[0][name], **ages[1][name]}


def test_a_changed_byte_is_never_read_whichever_it_is(tmp_path):
    records = some(5, 70)
    content, facts = encoded(records)
    path = tmp_path / "part"
    rng = random.Random(5)
    for at in {*rng.sample(range(facts.directory), 60), 0, facts.directory - 1}:
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        made = CheckpointPart(path, facts)
        refused = 0
        for name, rows in records.items():
            for key, value in rows.items():
                try:
                    assert made.tables[name].find(key) == value
                except LedgerTampered:
                    refused += 1
        assert 0 < refused <= ROWS
        made.close()
    for at in rng.sample(range(facts.directory, len(content)), 40):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(LedgerTampered):
            CheckpointPart(path, facts)


@pytest.mark.parametrize("change", [lambda c: c[:-1], lambda c: c + b"x", lambda c: b""])
def test_a_part_of_another_length_is_refused(tmp_path, change):
    content, facts = encoded(some(5, 70))
    path = tmp_path / "part"
    path.write_bytes(change(content))
    with pytest.raises(LedgerTampered):
        CheckpointPart(path, facts)


def test_a_part_that_is_cut_while_it_is_open_is_refused(tmp_path):
    records = some(5, 70)
    made = part(tmp_path, records)
    made.path.write_bytes(b"")
    with pytest.raises(LedgerTampered):
        made.tables["requests"].find(next(iter(records["requests"])))
