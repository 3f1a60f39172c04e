"""What is shipped: the inventory, the container file's commands, and the archives themselves.

The archives are built and installed for real, which takes minutes and a package registry: `slow`, and
skipped with a sentence where the registry cannot be reached.
"""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import urllib.request
import zipfile
from pathlib import Path

import pytest

from patience import LONG, slowness
from ports import free_port

ROOT = Path(__file__).resolve().parents[2]
CONTAINER = ROOT / "Containerfile"


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def inventory():
    return script("inventory")


# --- the inventory ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(inventory, tmp_path_factory):
    folder = tmp_path_factory.mktemp("inventory")
    inventory.main(folder)
    return folder


def test_the_bill_of_materials_names_every_pin_with_a_licence(inventory, written):
    bill = json.loads((written / "sbom.cdx.json").read_text())
    pins = inventory.pinned((ROOT / "requirements-run.lock").read_text())
    components = {each["purl"]: each for each in bill["components"]}
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"])
    assert set(components) == {pin.purl for pin in pins}
    assert len(bill["components"]) == len(pins) > 25
    for pin in pins:
        each = components[pin.purl]
        assert each["licenses"][0]["expression"]
        assert {fact["value"] for fact in each["properties"]} == set(pin.hashes) != set()


def test_everything_in_the_bill_is_there_because_something_needs_it(written):
    bill = json.loads((written / "sbom.cdx.json").read_text())
    edges = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    reached, waiting = set(), [bill["metadata"]["component"]["bom-ref"]]
    while waiting:
        ref = waiting.pop()
        if ref not in reached:
            reached.add(ref)
            waiting += edges[ref]
    assert reached == set(edges)


def test_every_licence_text_is_there(inventory, written):
    text = (written / "THIRD-PARTY-LICENSES.txt").read_text()
    for pin in inventory.pinned((ROOT / "requirements-run.lock").read_text()):
        assert f"\n{pin.name} {pin.version}: " in text
    assert text.count("Permission is hereby granted") > 5  # MIT
    assert "Apache License" in text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nobody-wrote-this==1.0", "not installed"),
        ("duckdb==0.0.1", "is installed"),
    ],
)
def test_a_hole_stops_the_release(inventory, line, said):
    """The broken twin: a lock that names what is not here."""
    (package,) = inventory.pinned(f"{line} \\\n    --hash=sha256:{'0' * 64}")
    with pytest.raises(SystemExit, match=said):
        inventory.bill_of_materials(
            [package, *inventory.pinned((ROOT / "requirements-run.lock").read_text())], "1", b""
        )


def test_a_package_without_a_licence_stops_the_release(inventory, tmp_path, monkeypatch):
    info = tmp_path / "silent-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: silent\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    there = inventory.installed(inventory.Pinned("silent", "1.0", ()))
    with pytest.raises(SystemExit, match="does not say its licence"):
        inventory.licence(there)
    with pytest.raises(SystemExit, match="no text"):
        inventory.texts(there)


def test_lines_for_other_systems_are_left_out(inventory):
    lock = "a==1 ; sys_platform == 'nowhere' \\\n  --hash=sha256:00\nb==2 \\\n  --hash=sha256:00\n"
    assert [package.name for package in inventory.pinned(lock)] == ["b"]


# --- the container file ----------------------------------------------------------------------


def instructions(text):
    joined = re.sub(r"\\\n\s*", " ", text)
    return [line.split(" ", 1) for line in joined.splitlines() if line and line[0] != "#"]


def test_the_container_serves_by_a_command_that_exists(monkeypatch, tmp_path):
    """Its CMD is run as written, up to the call that would listen."""
    from discreet.cli import serve
    from discreet.cli.app import run

    (command,) = (
        json.loads(rest) for word, rest in instructions(CONTAINER.read_text()) if word == "CMD"
    )
    assert command[0] == "discreet"
    seen = {}
    parts = serve.server_parts()
    parts.serve = lambda settings, **_: seen.update(settings=settings)
    parts.refuse_taken = parts.owner_token = lambda *_: None
    monkeypatch.setattr(serve, "server_parts", lambda *_: parts)
    folder = command.index("/data")
    (tmp_path / "discreet.toml").write_text("")
    assert run([*command[1:folder], str(tmp_path), *command[folder + 1 :]]) == 0
    settings = seen["settings"]
    exposed = next(rest for word, rest in instructions(CONTAINER.read_text()) if word == "EXPOSE")
    assert (settings.host, settings.port) == ("0.0.0.0", int(exposed))
    assert settings.config == tmp_path / "discreet.toml"


def test_the_container_installs_pins_only_and_runs_as_nobody_special():
    found = instructions(CONTAINER.read_text())
    installs = [rest for word, rest in found if word == "RUN" and "pip install" in rest]
    assert all("--require-hashes" in rest or "--no-index --no-deps" in rest for rest in installs)
    assert len(installs) == 2
    words = [word for word, _ in found]
    assert words.index("USER") < words.index("CMD")
    assert dict(found)["USER"] not in {"root", "0"}
    for word, rest in found:
        if word == "COPY":
            *sources, _ = shlex.split(rest)
            for source in sources:
                assert source.startswith("dist/") or (ROOT / source).exists()


# --- the archives ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def uv():
    found = Path(sys.prefix) / "tools" / "bin" / "uv"
    program = str(found) if found.exists() else shutil.which("uv")
    if program is None:
        pytest.skip("uv is not here; make setup brings it")
    return program


@pytest.fixture(scope="module")
def shipped(uv, tmp_path_factory):
    """A copy of the files that git knows, in which `release` and `bundle` were run."""
    folder = tmp_path_factory.mktemp("shipped") / "discreet"
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=False,
    )  # fmt: skip
    if names.returncode:
        pytest.skip("this tree is no git clone, so what belongs to it is unknown")
    for name in names.stdout.decode().strip("\0").split("\0"):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    known = {**os.environ, "DISCREET_PYTHON": sys.executable, "DISCREET_UV": uv}
    for step in ("release", "bundle"):
        done = subprocess.run(
            [f"scripts/{step}"], cwd=folder, env=known, capture_output=True, text=True, check=False
        )
        if done.returncode and re.search(r"connect|resolve|network|No matching", done.stderr):
            pytest.skip("the package registry cannot be reached from here")
        assert done.returncode == 0, done.stderr[-3000:]
    return folder / "dist"


def demo_answers(program, folder):
    """Start `discreet demo`, ask its server one question, and return the seconds until the answer."""
    start = time.monotonic()
    log = folder / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [program, "demo", "--no-browser", "--port", str(free_port()), "--folder", folder / "town"],
            stdout=out, stderr=subprocess.STDOUT, cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"},
        )  # fmt: skip
    try:
        while not (found := re.search(r"Open (http://\S+)/ask\?token=(\S+)", log.read_text())):
            assert process.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < start + LONG, log.read_text()[-2000:]
            time.sleep(0.05)
        body = {"sql": "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", "epsilon": "0.1"}
        request = urllib.request.Request(
            f"{found[1]}/api/v1/query",
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {found[2]}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=LONG) as reply:
            rows = json.load(reply)["rows"]
        assert len(rows) >= 2
        return time.monotonic() - start
    finally:
        process.terminate()
        process.wait(LONG)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_release_is_whole(shipped):
    names = {path.name for path in shipped.iterdir()}
    assert {"SHA256SUMS", "THIRD-PARTY-LICENSES.txt", "sbom.cdx.json"} < names
    assert sum(name.endswith(".whl") for name in names) == 1
    checked = subprocess.run(
        ["sha256sum", "--check", "SHA256SUMS"], cwd=shipped, capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stderr


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_lessons_and_docs_are_inside_the_wheel(shipped):
    (wheel,) = shipped.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for path in (ROOT / "src" / "discreet" / "lab" / "course" / "lessons").rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            assert path.relative_to(ROOT / "src").as_posix() in names
    for path in (ROOT / "docs").rglob("*.md"):
        assert f"discreet/server/doc_files/{path.relative_to(ROOT / 'docs').as_posix()}" in names


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_wheel_with_the_extra_server_alone_runs_the_demo(
    shipped, uv, tmp_path, record_property
):
    (wheel,) = shipped.glob("*.whl")
    subprocess.run(
        [uv, "venv", "--quiet", "--python", sys.executable, tmp_path / "empty"], check=True
    )
    python = tmp_path / "empty" / "bin" / "python"
    installed = subprocess.run(
        [uv, "pip", "install", "--quiet", "--python", python, f"{wheel}[server]"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert installed.returncode == 0, installed.stderr[-3000:]
    absent = "import importlib.util as u; print([n for n in ('scipy', 'pandas', 'jax', 'pyspark', 'pytest') if u.find_spec(n)])"
    said = subprocess.run([python, "-c", absent], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
    seconds = demo_answers(python.parent / "discreet", tmp_path)
    record_property("seconds from `discreet demo` to its first answer", round(seconds, 1))
    assert seconds < 40 * slowness()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_bundle_installs_without_network_and_runs_the_demo(shipped, tmp_path):
    (bundle,) = shipped.glob("discreet-*-py3*-*.tar.gz")
    subprocess.run(["tar", "-xzf", bundle, "-C", tmp_path], check=True)
    (folder,) = tmp_path.glob("discreet-*")
    nowhere = {"https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}
    known = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHON": sys.executable} | nowhere
    done = subprocess.run(
        [folder / "install", tmp_path / "there"], env=known, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert demo_answers(tmp_path / "there" / "bin" / "discreet", tmp_path) < 40 * slowness()
    # The broken twin: with one wheel missing it fails, so nothing was fetched from elsewhere.
    next((folder / "wheels").glob("duckdb-*")).unlink()
    again = subprocess.run(
        [folder / "install", tmp_path / "again"], env=known, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert again.returncode != 0
