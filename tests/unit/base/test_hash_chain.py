"""Ledger and audit log are chained by the same hash; what was written by earlier versions still matches."""

import hashlib

from discreet.base.proof import ROOT, link_hash
from discreet.privacy.ledger.entry import link


def test_the_hash_of_a_ledgers_entry_is_the_one_of_all_versions():
    made = link(7, "charge", {"b": 1, "a": "é"}, previous=ROOT)
    text = f'7\ncharge\n{ROOT}\n{{"a":"\\u00e9","b":1}}'
    assert made.hash == hashlib.sha256(text.encode()).hexdigest()


def test_the_hash_of_a_line_of_the_audit_log_is_the_one_of_all_versions():
    assert link_hash(ROOT, b"{}") == hashlib.sha256(ROOT.encode() + b"\n{}").hexdigest()


def test_another_predecessor_or_another_content_is_another_hash():
    hashes = {link_hash(before, text) for before in (ROOT, "1" * 64) for text in (b"a", b"b", b"")}
    assert len(hashes) == 6
