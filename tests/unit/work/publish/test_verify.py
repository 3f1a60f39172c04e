"""The stand-alone verifier: what it accepts, and that every kind of damage is a problem."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from discreet.work.publish import verify as verifier
from discreet.work.publish.package import OwnerKey
from discreet.work.publish.recheck import verify_package
from package_kit import KEY, contents, members_of, package, repacked, resigned, rezipped
from sittings import FULL

MUTATIONS = 250 if FULL else 80

# RFC 8032, section 7.1: public key, message, signature.
VECTORS = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package(tmp_path_factory.mktemp("package"))


@pytest.mark.parametrize(("key", "message", "signature"), VECTORS)
def test_published_vectors(key: str, message: str, signature: str) -> None:
    known = bytes.fromhex(key), bytes.fromhex(message), bytes.fromhex(signature)
    assert verifier.signed_by(*known)
    assert not verifier.signed_by(known[0], known[1] + b"x", known[2])


def test_signatures_agree_with_the_library() -> None:
    chance = random.Random(1)
    for _ in range(20 if FULL else 6):
        secret = Ed25519PrivateKey.from_private_bytes(chance.randbytes(32))
        key, message = secret.public_key().public_bytes_raw(), chance.randbytes(50)
        signature = secret.sign(message)
        assert verifier.signed_by(key, message, signature)
        for place in chance.sample(range(512), 6):
            flipped = bytearray(signature)
            flipped[place // 8] ^= 1 << place % 8
            assert not verifier.signed_by(key, message, bytes(flipped))


def test_a_signature_has_one_spelling() -> None:
    secret = Ed25519PrivateKey.from_private_bytes(bytes(32))
    key, signature = secret.public_key().public_bytes_raw(), secret.sign(b"text")
    larger = int.from_bytes(signature[32:], "little") + verifier.ORDER
    assert not verifier.signed_by(key, b"text", signature[:32] + larger.to_bytes(32, "little"))


def test_a_key_of_small_order_signs_nothing() -> None:
    # With the neutral point as key, R = sB would be a signature of every message.
    neutral = (1).to_bytes(32, "little")
    assert not verifier.signed_by(neutral, b"text", neutral + bytes(32))


def test_a_whole_package_is_valid(release: Path) -> None:
    said = verifier.verify(str(release))
    assert said["problems"] == []
    assert said["valid"]
    assert said["checks"] == ["signature", "members", "price", "ledger", "scales", "sums"]
    assert said["trust"] == "by the key inside"
    assert verifier.verify(str(release), KEY.public)["trust"] == "by the key that was given"


def test_another_key_is_a_problem(release: Path) -> None:
    said = verifier.verify(str(release), OwnerKey(bytes(32)).public)
    assert not said["valid"]
    assert "another key" in said["problems"][0]


def test_it_runs_alone_from_the_package(release: Path, tmp_path: Path) -> None:
    alone = tmp_path / "verify.py"
    alone.write_bytes(members_of(release)["verify.py"])
    for key, status in ((KEY.public.hex(), 0), ("0" * 64, 1)):
        ended = subprocess.run(
            [sys.executable, "-I", "-S", str(alone), str(release), "--key", key, "--json"],
            capture_output=True,
            check=False,
        )
        assert ended.returncode == status
        assert json.loads(ended.stdout)["valid"] is (status == 0)
    assert len(alone.read_text().splitlines()) <= 880


def test_wrong_usage_is_one_line(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = tmp_path / "short.txt"
    short.write_text("abc")
    for arguments in (
        [],
        ["a", "b"],
        [str(release), "--key"],
        [str(release), "--key", "zz"],
        [str(release), "--key", str(short)],
    ):
        assert verifier.main(arguments) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert verifier.main([str(release), "--key", KEY.public.hex()]) == 0
    assert "by the key that was given" in capsys.readouterr().out


def test_zipping_again_is_another_file(release: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.zip"
    again.write_bytes(rezipped(list(members_of(release).items())))
    assert verifier.verify(str(again))["problems"] == [
        "archive: the archive is not as the owner's program writes it; ask for the file as it was published"
    ]


def mutated(members: list[tuple[str, bytes]], chance: random.Random) -> list[tuple[str, bytes]]:
    changed = list(members)
    place = chance.randrange(len(changed))
    name, content = changed[place]
    match chance.choice(["flip", "flip", "flip", "add", "remove", "double", "cut", "rename"]):
        case "flip":
            bit = chance.randrange(8 * len(content))
            flipped = bytearray(content)
            flipped[bit // 8] ^= 1 << bit % 8
            changed[place] = name, bytes(flipped)
        case "add":
            changed.append((f"tables/{chance.randrange(10**6)}.csv", content))
        case "remove":
            del changed[place]
        case "double":
            changed.insert(chance.randrange(len(changed)), (name, content))
        case "cut":
            changed[place] = name, content[:-1]
        case "rename":
            changed[place] = name + "~", content
    return changed


@pytest.mark.parametrize("seed", range(4))
def test_every_mutation_is_caught(release: Path, tmp_path: Path, seed: int) -> None:
    chance, members = random.Random(seed), list(members_of(release).items())
    missed = []
    for count in range(MUTATIONS):
        damaged = tmp_path / "damaged.zip"
        changed = mutated(members, chance)
        damaged.write_bytes(repacked(changed))
        if verifier.verify(str(damaged))["valid"]:
            missed.append(count)
    assert not missed


def test_every_bit_of_the_file_counts(release: Path, tmp_path: Path) -> None:
    chance, whole = random.Random(5), release.read_bytes()
    for _ in range(100):
        flipped = bytearray(whole)
        flipped[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        damaged = tmp_path / "damaged.zip"
        damaged.write_bytes(flipped)
        assert not verifier.verify(str(damaged))["valid"]


def falsified(release: Path, tmp_path: Path, **changes: object) -> list[str]:
    path = tmp_path / "false.zip"
    path.write_bytes(resigned(members_of(release), **changes))
    said = verifier.verify(str(path))
    assert said["valid"] is (not said["problems"])
    problems: list[str] = said["problems"]
    return problems


def test_an_honest_signature_again_is_valid(release: Path, tmp_path: Path) -> None:
    assert falsified(release, tmp_path) == []


def test_a_price_that_is_too_low_is_a_problem(release: Path, tmp_path: Path) -> None:
    manifest = json.loads(members_of(release)["manifest.json"])
    cheap = manifest["privacy"] | {"rho": "1/1000"}
    assert falsified(release, tmp_path, privacy=cheap)[0].startswith("price")
    louder = [event | {"sigma_squared": "99"} for event in manifest["events"]]
    assert falsified(release, tmp_path, events=louder)[0].startswith("scales")
    unmoved = [event | {"l2_squared": "0"} for event in manifest["events"]]
    assert falsified(release, tmp_path, events=unmoved)[0].startswith("price")
    assert falsified(release, tmp_path, dataset="village")[0].startswith("ledger")
    dear = manifest["privacy"] | {"epsilon": "3"}
    assert falsified(release, tmp_path, privacy=dear)[0].startswith("ledger")


def test_noise_that_costs_less_than_nothing_is_a_problem(release: Path, tmp_path: Path) -> None:
    events = json.loads(members_of(release)["manifest.json"])["events"]
    for change in (
        {"l2_squared": "-1/25"},
        {"sigma_squared": "-4"},
        {"law": "laplace", "l1": "-1", "scale": "4"},
        {"law": "laplace", "l1": "1", "scale": "-7"},
        {"cells": 0},
        {"cells": -3},
    ):
        more = [*events, events[0] | change]
        assert falsified(release, tmp_path, events=more)[0].startswith("price"), change
    more = [*events, events[0] | {"cells": 1.5}]
    assert "whole number" in falsified(release, tmp_path, events=more)[0]


def test_a_table_without_a_paid_measurement_is_a_problem(release: Path, tmp_path: Path) -> None:
    members = members_of(release)
    manifest = json.loads(members["manifest.json"])
    path = tmp_path / "false.zip"
    for gone in (["nation"], ["nation", "by_region"]):
        events = [e for e in manifest["events"] if e["measurement"] not in gone]
        kept = {n: m for n, m in manifest["measurements"].items() if n not in gone}
        fewer = {
            n: c for n, c in members.items() if n not in [f"measurements/{g}.csv" for g in gone]
        }
        path.write_bytes(resigned(fewer, events=events, measurements=kept))
        assert "without the noisy one" in verifier.verify(str(path))["problems"][0]
    # A measurement of fewer cells than the table has, or of none that was paid for.
    lines = members["measurements/nation.csv"].splitlines(keepends=True)
    for rows in (1, len(lines) - 2):
        events = [
            e | {"cells": rows - 1} if e["measurement"] == "nation" else e
            for e in manifest["events"]
            if rows > 1 or e["measurement"] != "nation"
        ]
        short = members | {"measurements/nation.csv": b"".join(lines[:rows])}
        path.write_bytes(resigned(short, events=events))
        assert verifier.verify(str(path))["problems"][0].startswith("scales")


def test_what_discreet_verify_adds_is_a_problem_not_a_crash(release: Path, tmp_path: Path) -> None:
    members = members_of(release)
    events = json.loads(members["manifest.json"])["events"]
    path = tmp_path / "false.zip"
    path.write_bytes(resigned(members | {"tables/nation.parquet": b"garbage"}))
    assert verify_package(path)["problems"][0].startswith("parquet")
    odd = [e | {"l2_squared": "3/2", "coordinates": "x"} for e in events]
    path.write_bytes(resigned(members, events=odd))
    assert not verify_package(path)["valid"]
    for key in (5, [1], "\x1b[2Kvalid"):
        manifest = json.loads(members["manifest.json"]) | {"key": key}
        hostile = members | {"manifest.json": json.dumps(manifest).encode()}
        path.write_bytes(repacked(list(hostile.items())))
        said = verify_package(path)
        assert not said["valid"]
        assert "\x1b" not in "".join(verifier.words(said))


def changed_member(release: Path, tmp_path: Path, name: str, old: bytes, new: bytes) -> list[str]:
    members = members_of(release)
    assert old in members[name]
    members[name] = members[name].replace(old, new, 1)
    path = tmp_path / "false.zip"
    path.write_bytes(resigned(members))
    problems: list[str] = verifier.verify(str(path))["problems"]
    return problems


def test_numbers_that_do_not_add_up_are_a_problem(release: Path, tmp_path: Path) -> None:
    table = "tables/nation.csv"
    assert "add up" in changed_member(release, tmp_path, table, b",56,", b",57,")[0]
    fact = "facts/fact-1.csv"
    assert "exact fact" in changed_member(release, tmp_path, fact, b"Hill,42", b"Hill,43")[0]
    rule = "tables/by_region.csv"
    zero = b"South,Female,0-17,0,0,5"
    assert "rule" in changed_member(release, tmp_path, rule, zero, b"South,Female,0-17,1,0,5")[0]
    outside = b"South,Female,0-17,0,1,5"
    assert "interval" in changed_member(release, tmp_path, rule, zero, outside)[0]
    orders = changed_member(release, tmp_path, rule, b"North,Male,0-17", b"North,Female,18-34")
    assert "out of order" in orders[0]
    text = b'"hash": "'
    assert "hash" in changed_member(release, tmp_path, "ledger.json", text, text + b"0")[0]


def test_hostile_manifests_are_problems_not_crashes(release: Path, tmp_path: Path) -> None:
    for changes in (
        {"format": "discreet-release/3"},
        {"privacy": {"epsilon": "1e999999999", "delta": "0", "rho": None}},
        {"events": [{"law": "gaussian", "l2_squared": "1", "sigma_squared": "0"}]},
        {"tables": {"nation": {}}},
        {"members": None},
        {"key": "zz"},
    ):
        members = members_of(release)
        manifest = json.dumps(json.loads(members["manifest.json"]) | changes).encode()
        members["manifest.json"], members["signature"] = manifest, KEY.sign(manifest)
        path = tmp_path / "hostile.zip"
        path.write_bytes(repacked(list(members.items())))
        assert verifier.verify(str(path))["problems"]
    for content in (b"", b"PK", b"no zip at all"):
        path.write_bytes(content)
        assert verifier.verify(str(path))["problems"]
    assert verifier.verify(str(tmp_path / "nothing.zip"))["problems"]


def test_the_price_in_zcdp_is_the_accountants() -> None:
    from fractions import Fraction

    from discreet.privacy.account.convert import epsilon_of_rho

    for rho in (Fraction(1, 100), Fraction(1, 2), Fraction(3)):
        mine = verifier.epsilon_of_rho(float(rho), 1e-9)
        certified = float(epsilon_of_rho(rho, Fraction(1, 10**9)))
        assert certified * (1 - 1e-6) <= mine <= certified * (1 + 1e-3)
    assert contents().rho == Fraction(1, 16) + Fraction(1, 64)
