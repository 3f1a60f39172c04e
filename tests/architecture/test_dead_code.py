"""A name that nobody uses is found although another module has one of the same name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import dead_code


def test_a_dead_name_is_found_behind_a_living_one_of_the_same_name(tmp_path, monkeypatch):
    monkeypatch.setattr(dead_code, "ROOT", tmp_path)
    (tmp_path / "src" / "room").mkdir(parents=True)
    used = "TRIES = 3\n\n\ndef tried() -> int:\n    return TRIES\n"
    (tmp_path / "src" / "room" / "used.py").write_text(used)
    (tmp_path / "src" / "room" / "user.py").write_text("from room.used import tried\n\ntried()\n")
    assert dead_code.alone() == []
    (tmp_path / "src" / "room" / "dead.py").write_text("TRIES = 3\n\n\ndef tried():\n    pass\n")
    assert dead_code.alone() == ["src/room/dead.py:1 TRIES", "src/room/dead.py:4 tried"]
