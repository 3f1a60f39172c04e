"""The locks: the smaller is part of the larger, and every platform finds wheels for all of it.

A package without a wheel would be compiled on the user's machine, which usually cannot. Asking the
registry takes seconds; where it cannot be reached these tests say so and skip.
"""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUN, EVERYTHING = ROOT / "requirements-run.lock", ROOT / "requirements.lock"
# In a source archive only: Python files and jars, nothing to compile.
NO_WHEEL = {"pyspark"}
LINUX = ("x86_64-manylinux_2_28", "aarch64-manylinux_2_28")
PLATFORMS = (*LINUX, "aarch64-apple-darwin", "x86_64-pc-windows-msvc")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
FULL = "DISCREET_FULL" in os.environ


def blocks(path):
    """Each requirement of a lock with its hashes, as one text."""
    found = re.split(r"\n(?=[A-Za-z0-9])", path.read_text().strip())
    return ["\n".join(line for line in b.split("\n") if "#" not in line) for b in found]


def pins(path):
    """From name and version to the hashes."""
    return {
        block.split(" ")[0]: frozenset(re.findall(r"sha256:[0-9a-f]{64}", block))
        for block in blocks(path)
    }


def name(pin):
    return pin.partition("==")[0]


def test_the_run_lock_is_a_part_of_the_whole_with_the_same_pins():
    small, large = pins(RUN), pins(EVERYTHING)
    assert 20 < len(small) < len(large) / 2
    assert small.items() <= large.items()


def test_the_run_lock_holds_what_running_needs_and_no_tool():
    small = {name(pin) for pin in pins(RUN)}
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = declared["optional-dependencies"]
    wanted = {re.split(r"[\[>=]", line)[0] for line in declared["dependencies"] + extras["server"]}
    assert wanted <= small
    heavy = {
        "jax",
        "jaxlib",
        "pyspark",
        "pandas",
        "scipy",
        "pytest",
        "playwright",
        "atheris",
        "mypy",
    }
    assert not small & heavy
    assert heavy <= {name(pin) for pin in pins(EVERYTHING)}


@pytest.mark.parametrize("path", [RUN, EVERYTHING], ids=lambda path: path.name)
def test_every_pin_has_hashes_and_no_lock_names_a_registry(path):
    assert all(pins(path).values())
    text = path.read_text()
    assert "://" not in text
    assert not re.search(r"^\s*-{1,2}(index|extra-index|find-links|i |f )", text, re.MULTILINE)


@pytest.fixture(scope="session")
def uv():
    found = ROOT / ".venv" / "tools" / "bin" / "uv"
    program = str(found) if found.exists() else shutil.which("uv")
    if program is None:
        pytest.skip("uv is not here; make setup brings it")
    return program


def asked(uv, folder, lines, python, platform):
    """What the registry says to installing `lines` from wheels alone; nothing is installed."""
    lock = folder / "asked.lock"
    lock.write_text("\n".join(lines) + "\n")
    return subprocess.run(
        [
            *(uv, "pip", "install", "--dry-run", "--no-deps", "--require-hashes"),
            *("--only-binary", ":all:", "--python-version", python),
            *("--python-platform", platform, "--target", folder / "nowhere", "-r", lock),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture(scope="session")
def registry(uv, tmp_path_factory):
    """Skip unless the registry knows a small package that is pinned here."""
    small = [block for block in blocks(RUN) if block.startswith("idna==")]
    found = asked(uv, tmp_path_factory.mktemp("reach"), small, "3.11", LINUX[0])
    if found.returncode:
        pytest.skip("the package registry cannot be reached from here")


def lines_of(path):
    return [block for block in blocks(path) if name(block) not in NO_WHEEL]


# Every Python with the full counts, the oldest one always.
@pytest.mark.parametrize("python", PYTHONS if FULL else PYTHONS[:1])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_running_needs_only_wheels_everywhere(uv, registry, tmp_path, platform, python):
    found = asked(uv, tmp_path, lines_of(RUN), python, platform)
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("python", PYTHONS if FULL else PYTHONS[:1])
@pytest.mark.parametrize("platform", LINUX)
def test_testing_needs_only_wheels_on_linux(uv, registry, tmp_path, platform, python):
    found = asked(uv, tmp_path, lines_of(EVERYTHING), python, platform)
    assert found.returncode == 0, found.stderr


def test_a_package_without_a_wheel_is_noticed(uv, registry, tmp_path):
    """The broken twin: what 0.1.0 asked of an ARM machine."""
    atheris = [
        block.split(";")[0] + "\\\n" + block.split("\\\n", 1)[1]
        for block in blocks(EVERYTHING)
        if name(block) == "atheris"
    ]
    assert atheris
    for block in atheris:
        found = asked(uv, tmp_path, [block], "3.11", LINUX[1])
        assert found.returncode
        assert "wheel" in found.stderr
