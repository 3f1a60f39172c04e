"""What the stand-alone verifier does with packages that are made to take it long, or much memory."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from discreet.publish import verify as verifier
from package_kit import members_of, package
from patience import quickest, slowness


def rows(text: bytes) -> list[list[str]]:
    return list(verifier._rows(io.BytesIO(text), "name"))


def test_a_key_of_newlines_is_read_in_linear_time() -> None:
    key = "\n" * (1 << 17)  # the largest cell that Python's csv reads
    text = f'sex,value\n"{key}",1\nMale,1\n'.encode()
    assert rows(text) == [["sex", "value"], [key, "1"], ["Male", "1"]]
    # Put together line by line it took 6 seconds.
    assert quickest(lambda _: rows(text)) < 0.6 * slowness()


@pytest.mark.parametrize("text", [b'a\n"\n', b'a\n"b""\nc', b'a\n"b"\n', b'"a\n'])
def test_rows_over_several_lines_have_one_spelling(text: bytes) -> None:
    with pytest.raises(verifier.PackageProblem):
        rows(text)


def test_quotes_over_several_lines_are_read_as_they_are_written() -> None:
    assert rows(b'a,b\n"x\ny""\n""z",1\n"",2\n') == [["a", "b"], ['x\ny"\n"z', "1"], ["", "2"]]


def packed(path: Path, manifest: bytes) -> list[str]:
    """Return the problems of an archive whose manifest is packed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (("manifest.json", manifest), ("signature", bytes(64))):
            member = zipfile.ZipInfo(name)
            member.external_attr, member.compress_type = 0o600 << 16, zipfile.ZIP_DEFLATED
            with archive.open(member, "w") as target:
                target.write(content)
    problems: list[str] = verifier.verify(str(path))["problems"]
    return problems


def test_a_packed_manifest_is_never_read_unless_it_is_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the manifest was read")

    monkeypatch.setattr(verifier, "plain_json", fail)
    bomb = b'{"a":[' + b"[]," * 2_000_000 + b"[]]}"
    said = "archive: manifest.json holds more than 4 MB; raise the limit with --max-gb"
    assert packed(tmp_path / "bomb.zip", bomb) == [said]
    assert len((tmp_path / "bomb.zip").read_bytes()) < 20_000
    (problem,) = packed(tmp_path / "small.zip", b'{\n "format": "discreet-release/2"\n}')
    assert "not packed as the owner's program" in problem


def test_each_mapping_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = package(tmp_path)
    read: list[str] = []
    honest = verifier.Package.rows

    def counted(self, name, *more):
        read.append(name)
        return honest(self, name, *more)

    monkeypatch.setattr(verifier.Package, "rows", counted)
    assert verifier.verify(str(path))["valid"]
    mappings = [name for name in members_of(path) if name.startswith("mappings/")]
    assert mappings
    assert sorted(n for n in read if n.startswith("mappings/")) == sorted(mappings)
