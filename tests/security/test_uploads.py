"""Security test 24: hostile uploads, CSRF, headers. After each: a clear answer, the server lives,
nothing is left behind, and no cell of a file is in a reply or a log."""

import gzip
import io
import random
import socket
import struct
import threading
import zipfile
from dataclasses import replace
from unittest.mock import patch

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import vl_convert
from fastapi.routing import APIRoute

from discreet.server.access.auth import all_routes, roles_of
from discreet.server.features.data.receive import shown_name
from discreet.server.features.data.uploads import UploadBounds
from discreet.server.features.frame.charts import chart_bundle
from discreet.server.problems import HEADERS
from patience import LONG, eventually
from server_kit import running, write_world
from sittings import FULL

UPLOADS = "/api/v1/data/uploads"
CANARY = "SECRET-4411"
ROWS = f"1,{CANARY}\n2,b\n"
MAX_MB = 4
LARGEST = MAX_MB << 20


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    with running(write_world(folder), max_upload_mb=MAX_MB) as found:
        with patch.object(
            vl_convert, "javascript_bundle", lambda _: "// made up: it takes seconds"
        ):
            chart_bundle(found.context.settings.state_folder)
        store = found.app.state.uploads
        assert store.bounds.size == LARGEST
        store.bounds = replace(store.bounds, rows=200_000, examine_seconds=LONG)
        yield found


@pytest.fixture(scope="module")
def owner(server):
    with server.client(server.token()) as client:
        yield client


def parquet(table, **options):
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


PLAIN = parquet(pa.table({"a": [1, 2, 3], "b": [CANARY, "x", "y"]}))


def nested(depth):
    kind = pa.int64()
    for _ in range(depth):
        kind = pa.list_(kind)
    return pa.table({"deep": pa.array([None, None], type=kind), "note": [CANARY, CANARY]})


def bad_utf8():
    raw = pa.array([b"\xff\xfe" + CANARY.encode(), b"ok"], type=pa.binary())
    return pa.table({"text": pa.Array.from_buffers(pa.string(), 2, raw.buffers())})


def odd_types():
    return pa.table(
        {
            "map": pa.array([[("k", 1)], None], type=pa.map_(pa.string(), pa.int64())),
            "struct": pa.array([{"x": 1}, None]),
            "binary": pa.array([b"\0\1", b"=1+1"]),
            "time": pa.array([1, 2], type=pa.time64("us")),
            "nan": [float("nan"), float("-inf")],
            "big": pa.array([2**63 - 1, -(2**63)]),
            "plain": [CANARY, "b"],
        }
    )


def packed(name):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr(name, "a,b\n" + ROWS)
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    return sink.getvalue()


def one_word():
    """A long text that a dictionary repeats 150,000 times: small to send, 13 GB to write out."""
    word = pa.DictionaryArray.from_arrays(pa.array([0] * 150_000, pa.int8()), ["x" * 90_000])
    return pa.table({"a": word})


def lying_footer():
    """A footer length that points before the beginning of the file."""
    return PLAIN[:-8] + struct.pack("<I", 2**31 - 5) + b"PAR1"


def flipped():
    """The footer itself, with bytes turned over."""
    size = struct.unpack("<I", PLAIN[-8:-4])[0]
    broken = bytearray(PLAIN)
    for i in range(len(PLAIN) - 8 - size, len(PLAIN) - 8, 7):
        broken[i] ^= 0xFF
    return bytes(broken)


def text(first, rows=ROWS):
    return (first + "\n" + rows).encode()


REFUSED = {
    # name of the case: (file name, content or how it is made, status, a word of the answer)
    "empty file": ("a.csv", b"", 400, "empty"),
    "empty parquet": ("a.parquet", b"", 400, "empty"),
    "only a heading": ("a.csv", b"a,b\n", 400, "no rows"),
    "a heading without an end": ("a.csv", b"a,b", 400, "no rows"),
    "only line ends": ("a.csv", b"\n\n\n", 400, "column names"),
    "only spaces": ("a.csv", b"   \n  \n", 400, "column names"),
    "a NUL in a cell": ("a.csv", text("a,b") + b"3,\0\n", 400, "NUL"),
    "only NULs": ("a.csv", b"\0" * 5000, 400, "NUL"),
    "UTF-16": ("a.csv", text("a,b").decode().encode("utf-16"), 201, ""),
    "Latin-1": ("a.csv", "a,b\n1,M\u00fcller\n".encode("latin-1"), 201, ""),
    "half a letter at the end": ("a.csv", text("a,b") + "3,\u20ac".encode()[:-1], 400, "UTF-8"),
    "half a surrogate": ("a.csv", text("a,b") + b"3,\xed\xa0\x80\n", 400, "UTF-8"),
    "random bytes": ("a.csv", random.Random(1).randbytes(9000), 400, ""),
    "a million columns": ("a.csv", lambda: (",".join(f"c{i}" for i in range(10**6)) + "\n1\n").encode()[:LARGEST], 413, "first line"),
    "a thousand and one columns": ("a.csv", (",".join(f"c{i}" for i in range(1001)) + "\n" + "1," * 1000 + "1\n").encode(), 413, "columns"),
    "one name twice": ("a.csv", text("a,a"), 400, "same name"),
    "names that differ in case": ("a.csv", text("a,A"), 400, "same name"),
    "a column without a name": ("a.csv", text("a,"), 400, "no name"),
    "no heading": ("a.csv", b"1.5,2.5\n3,4\n", 400, "values, not column names"),
    "a name of a million letters": ("a.csv", text("a" * 10**6 + ",b"), 413, "first line"),
    "a name of 300 letters": ("a.csv", text("a" * 300 + ",b"), 400, "name"),
    "a bell in a name": ("a.csv", text("a\x07,b"), 400, "name"),
    "a right-to-left mark in a name": ("a.csv", text("a\u202e,b"), 400, "name"),
    "more cells than names": ("a.csv", text("a,b") + b"1,2,3\n", 400, "cannot be read"),
    "fewer cells than names": ("a.csv", text("a,b,c"), 400, "cannot be read"),
    "a quote that never ends": ("a.csv", text("a,b") + b'3,"' + b"x" * 5000, 400, "cannot be read"),
    "a cell of a million letters": ("a.csv", lambda: text("a,b") + b"3," + b"x" * 10**6 + b"\n", 413, "cell"),
    "a line of three million letters": ("a.csv", lambda: text("a,b") + b"3," + b"x" * 3 * 10**6 + b"\n", 400, "cannot be read"),
    "more rows than allowed": ("a.csv", lambda: b"a\n" + b"1\n" * 200_001, 413, "rows"),
    "gzip": ("a.csv", gzip.compress(text("a,b")), 201, ""),
    "half a gzip": ("a.csv.gz", gzip.compress(text("a,b") * 99)[:-9], 400, "cannot be unpacked"),
    "a gzip bomb": ("a.csv.gz", lambda: gzip.compress(b"a\n" + b"1\n" * (20 * LARGEST), 1), (400, 413), ""),
    "xz": ("a.csv", b"\xfd7zXZ\0" + b"x" * 99, 400, "xz"),
    "zip with a symlink": ("a.csv", packed("a.csv"), (201, 400), ""),
    "half a spreadsheet": ("a.xlsx", packed("xl/workbook.xml"), 400, ""),
    "a spreadsheet of a version yet to come": ("a.xlsx", packed("xl/workbook.xml").replace(b"PK\1\2\x14\x03\x14", b"PK\1\2\x14\x03\xff"), 400, "cannot be unpacked"),
    "JSON that is no table": ("a.jsonl", b"[1, 2]\n", 400, "one object a line"),
    "broken JSON": ("a.jsonl", b'{"a": 1}\n{"a": ', 400, "damaged"),
    "half a SQLite file": ("a.sqlite", b"SQLite format 3\0" + b"x" * 99, 400, ""),
    "a program": ("a.exe", b"MZ" + b"\0" * 100, 400, "must end in"),
    "CSV called parquet": ("a.parquet", text("a,b"), 400, "not Parquet"),
    "parquet called CSV": ("a.csv", PLAIN, 400, "is Parquet"),
    "half a parquet": ("a.parquet", PLAIN[: len(PLAIN) // 2], 400, "cannot be read"),
    "a parquet without its last byte": ("a.parquet", PLAIN[:-1], 400, "cannot be read"),
    "three letters of parquet": ("a.parquet", b"PAR", 400, "not Parquet"),
    "junk between the marks": ("a.parquet", b"PAR1" + random.Random(2).randbytes(4000) + b"PAR1", 400, "cannot be read"),
    "a footer that lies about its length": ("a.parquet", lying_footer(), 400, "cannot be read"),
    "a footer of turned bytes": ("a.parquet", flipped(), 400, ""),
    "a parquet without rows": ("a.parquet", parquet(pa.table({"a": pa.array([], pa.int64())})), 400, "no rows"),
    "a parquet without columns": ("a.parquet", parquet(pa.table({})), 400, "no columns"),
    "a parquet with one name twice": ("a.parquet", parquet(pa.table([[1], [2]], names=["a", "A"])), 400, "same name"),
    "a parquet with 1001 columns": ("a.parquet", lambda: parquet(pa.table({f"c{i}": [1] for i in range(1001)})), 413, "columns"),
    "a parquet with a NUL in a name": ("a.parquet", parquet(pa.table({"a\0b": [1]})), 400, "name"),
    "a parquet bomb of rows": ("a.parquet", lambda: parquet(pa.table({"a": pa.array([0] * 3_000_000, pa.int8())})), 413, "rows"),
    "a parquet bomb of bytes": ("a.parquet", lambda: parquet(pa.table({"a": ["x" * 90_000] * 1_000}), use_dictionary=False, compression="zstd"), 413, "unpacks"),
    "a parquet bomb of one word": ("a.parquet", lambda: parquet(one_word()), 413, "unpacks"),
    "a parquet cell of a million letters": ("a.parquet", parquet(pa.table({"a": ["x" * 10**6]})), 413, "cell"),
    "a parquet with broken text": ("a.parquet", parquet(bad_utf8()), 400, "cannot be read"),
    "a parquet 300 lists deep": ("a.parquet", parquet(nested(90)), (201, 400), ""),
    "a file above the limit": ("a.csv", lambda: b"a\n" + b"1\n" * (LARGEST // 2), 413, "larger than"),
}  # fmt: skip


def left_behind(server):
    folder = server.app.state.uploads.folder
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def send(client, name, content):
    return client.post(UPLOADS, files={"file": (name, content)})


def check_problem(server, reply, status, word):
    wanted = status if isinstance(status, tuple) else (status,)
    assert reply.status_code in wanted, reply.text
    assert CANARY not in reply.text
    assert CANARY not in server.log.getvalue()
    if reply.status_code >= 400:
        assert reply.headers["content-type"] == "application/problem+json"
        said = reply.json()
        assert word in said["detail"], said
        assert said["detail"][0].isupper() or said["detail"][0] == "'"


def test_there_are_at_least_forty_hostile_files(record_property):
    assert len(REFUSED) >= 40
    record_property("hostile files", len(REFUSED))


@pytest.mark.parametrize("case", REFUSED)
def test_hostile_file(server, owner, case):
    name, content, status, word = REFUSED[case]
    reply = send(owner, name, content() if callable(content) else content)
    check_problem(server, reply, status, word)
    if reply.status_code == 201:
        assert owner.delete(f"{UPLOADS}/{reply.json()['id']}").status_code == 200
    assert left_behind(server) == []
    assert owner.get("/api/v1/health").status_code == 200


ODD_NAMES = [
    "../../../../etc/cron.d/evil.csv",
    "..\\..\\windows\\evil.csv",
    "/etc/passwd.csv",
    "C:evil.csv",
    "%2e%2e%2fevil.csv",
    "a\nSet-Cookie: x=1\r\n.csv",
    "x" * 3000 + ".csv",
    "table.parquet.csv",
    "facts.json.csv",
    ".csv.csv",
    "<script>alert(1)</script>.csv",
    "=cmd|calc.csv",
    "$(touch evil).csv",
    "caf\u00e9 \u202e.csv",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_is_made_harmless(name):
    shown = shown_name(name.encode())
    assert 0 < len(shown) <= 100
    assert not set(shown) & set("/\\\r\n\0\u202e")
    assert shown.endswith(".csv")


@pytest.mark.parametrize("name", ODD_NAMES[:4])
def test_a_name_is_never_a_path(server, owner, tmp_path_factory, name):
    reply = send(owner, name, text("a,b"))
    assert reply.status_code == 201, reply.text
    found = reply.json()
    assert len(found["file"]) <= 100
    assert not set(found["file"]) & set("/\\\r\n\0\u202e")
    folder = server.app.state.uploads.folder
    everything = {str(p.relative_to(folder)) for p in folder.rglob("*")}
    assert everything == {found["id"], f"{found['id']}/table.parquet", f"{found['id']}/facts.json"}
    assert (folder / found["id"] / "table.parquet").stat().st_mode & 0o077 == 0
    assert owner.delete(f"{UPLOADS}/{found['id']}").status_code == 200
    assert left_behind(server) == []


def test_ids_that_are_no_ids(server, owner, tmp_path):
    folder = server.app.state.uploads.folder
    folder.mkdir(exist_ok=True)
    (tmp_path / "facts.json").write_text('{"id": "x"}')
    link = folder / ("a" * 32)
    link.symlink_to(tmp_path)
    try:
        for wrong in ("..", "%2e%2e", "../../access.db", "a" * 32, "A" * 32, "0" * 31, "x", "%00"):
            for method, end in (("GET", "/proposal"), ("POST", "/confirm"), ("DELETE", "")):
                reply = owner.request(method, f"{UPLOADS}/{wrong}{end}", json={})
                assert reply.status_code in (400, 404, 405), (wrong, reply.text)
        assert (tmp_path / "facts.json").is_file()
        assert owner.get(UPLOADS).json() == {"uploads": []}
    finally:
        link.unlink()


TEXT = text("a,b")


def part(name='name="file"; filename="a.csv"', content=TEXT, header="Content-Disposition"):
    return f"--B\r\n{header}: form-data; {name}\r\n\r\n".encode() + content + b"\r\n"


BODIES = {
    "json": ("application/json", b"{}", "multipart"),
    "no type": ("", b"x", "multipart"),
    "no boundary": ("multipart/form-data", part() + b"--B--\r\n", "multipart"),
    "a boundary of 100,000 letters": ("multipart/form-data; boundary=" + "B" * 10_000, b"x", "envelope"),
    "another boundary": ("multipart/form-data; boundary=C", part() + b"--B--\r\n", ""),
    "empty": ("multipart/form-data; boundary=B", b"", "no file"),
    "no parts": ("multipart/form-data; boundary=B", b"--B--\r\n", "no file"),
    "no end": ("multipart/form-data; boundary=B", part(), "ended before"),
    "another part": ("multipart/form-data; boundary=B", part('name="x"') + b"--B--\r\n", "no file"),
    "no file in it": ("multipart/form-data; boundary=B", part('name="file"') + b"--B--\r\n", "no file"),
    "two files": ("multipart/form-data; boundary=B", part() + part() + b"--B--\r\n", "one file"),
    "too many parts": ("multipart/form-data; boundary=B", part('name="x"') * 50 + b"--B--\r\n", "too many"),
    "no disposition": ("multipart/form-data; boundary=B", part(header="X") + b"--B--\r\n", "no file"),
    "a long header": ("multipart/form-data; boundary=B", part('name="' + "x" * 50_000 + '"') + b"--B--\r\n", ""),
    "many headers": ("multipart/form-data; boundary=B", b"--B\r\n" + b"a: b\r\n" * 9000 + b"\r\nx\r\n--B--\r\n", ""),
    "junk": ("multipart/form-data; boundary=B", random.Random(3).randbytes(5000), ""),
}  # fmt: skip


@pytest.mark.parametrize("case", BODIES)
def test_hostile_envelope(server, owner, case):
    kind, body, word = BODIES[case]
    reply = owner.post(UPLOADS, content=body, headers={"Content-Type": kind})
    check_problem(server, reply, 400, word)
    assert left_behind(server) == []


def test_two_gigabytes_are_refused_before_they_are_sent(server, owner):
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=LONG) as wire:
        wire.sendall(
            f"POST {UPLOADS} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {2 << 30}\r\n"
            f"Authorization: {owner.headers['authorization']}\r\nExpect: 100-continue\r\n"
            "Content-Type: multipart/form-data; boundary=B\r\n\r\n".encode()
        )
        reply = wire.recv(4096)  # although not one byte of the file was sent
    assert reply.startswith(b"HTTP/1.1 413"), reply[:100]
    assert left_behind(server) == []


def test_an_endless_upload_is_refused_when_it_passes_the_limit(server, owner):
    sent = 0

    def endless():
        nonlocal sent
        yield part(content=b"a,b\n")[:-2]
        while sent < 2 << 30:
            sent += 1 << 16
            yield b"1,2\n" * (1 << 14)

    kind = {"Content-Type": "multipart/form-data; boundary=B"}
    try:
        reply = owner.post(UPLOADS, content=endless(), headers=kind)
    except httpx.TransportError:
        reply = None  # the server hung up while we were still sending
    assert reply is None or reply.status_code == 413
    if reply is not None:
        assert reply.headers["connection"] == "close"
    assert sent < LARGEST + (64 << 20), "far less than was on offer"
    assert left_behind(server) == []
    assert owner.get("/api/v1/health").status_code == 200


def test_an_upload_that_breaks_off_leaves_nothing(server, owner):
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=LONG) as wire:
        wire.sendall(
            f"POST {UPLOADS} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100000\r\n"
            f"Authorization: {owner.headers['authorization']}\r\n"
            "Content-Type: multipart/form-data; boundary=B\r\n\r\n".encode()
            + part()
        )
        eventually(lambda: left_behind(server), "the upload has begun")
    eventually(lambda: not left_behind(server), "its folder vanishes")
    assert '"status": 500' not in server.log.getvalue()


def test_a_slow_upload_is_cut_off(server, owner):
    store = server.app.state.uploads
    before = store.bounds
    store.bounds = replace(before, seconds=0.3)
    ends = f'"route": "{UPLOADS}"'
    ended = server.log.getvalue().count(ends)

    def slow():
        yield part()
        eventually(lambda: server.log.getvalue().count(ends) > ended, "it is cut off")
        yield b"1,2\n"

    try:
        kind = {"Content-Type": "multipart/form-data; boundary=B"}
        reply = owner.post(UPLOADS, content=slow(), headers=kind)
        check_problem(server, reply, 400, "longer than")
    except httpx.WriteError:
        pass  # it hung up first
    finally:
        store.bounds = before
    assert left_behind(server) == []


def test_an_upload_that_keeps_its_reader_busy_is_stopped(server, owner):
    store = server.app.state.uploads
    before = store.bounds
    store.bounds = replace(before, examine_seconds=0.01)
    try:
        reply = send(owner, "a.csv", text("a,b"))
    finally:
        store.bounds = before
    check_problem(server, reply, 400, "more time or memory")
    assert left_behind(server) == []


def test_a_full_disk_is_said_before_the_file_is_read(server, owner):
    store = server.app.state.uploads
    before = store.bounds
    store.bounds = replace(before, spare=1 << 60)
    try:
        check_problem(server, send(owner, "a.csv", text("a,b")), 413, "no room")
    finally:
        store.bounds = before
    assert left_behind(server) == []


def test_many_uploads_at_once(server, owner):
    replies = []

    def one(number):
        with server.client(owner.headers["authorization"].split()[1]) as client:
            replies.append(send(client, f"n{number}.csv", text("a,b")))

    threads = [threading.Thread(target=one, args=(i,)) for i in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = [reply.json()["id"] for reply in replies if reply.status_code == 201]
    assert kept
    assert {reply.status_code for reply in replies} <= {201, 429}
    assert left_behind(server) == sorted(kept)
    for name in kept:
        assert owner.delete(f"{UPLOADS}/{name}").status_code == 200


ODD_HEADING = b'=cmd|\' /c calc\'!A0,<script>alert(1)</script>,"a""); DROP TABLE people --",b\'c'
ODD_CELLS = b"=cmd|'/c calc'!A0,+1\n-2,@SUM(A1)\n\t3," + b"x" * 99_000 + b"\n"
WIDE = ",".join(f"c{i}" for i in range(40)) + "\n" + "1," * 39 + "1\n"
KINDLY = {
    "formulas, markup and SQL in names": ("a.csv", ODD_HEADING + b"\n1,2,3,4\n"),
    "formulas and long cells": ("a.csv", b"a,b\n" + ODD_CELLS),
    "marks, semicolons, Windows line ends": ("a.csv", b"\xef\xbb\xbfa;b\r\n1;2\r\n"),
    "odd types": ("a.parquet", parquet(odd_types())),
    "forty columns": ("a.csv", WIDE.encode()),
}


@pytest.mark.parametrize("case", KINDLY)
def test_odd_but_harmless(server, owner, case):
    name, content = KINDLY[case]
    reply = send(owner, name, content)
    assert reply.status_code == 201, reply.text
    found = reply.json()
    proposal = owner.get(f"{UPLOADS}/{found['id']}/proposal")
    assert proposal.status_code == 200, proposal.text
    assert proposal.headers["content-type"] == "application/json"
    assert proposal.headers["cache-control"] == "no-store"
    assert [c["name"] for c in proposal.json()["proposal"]["columns"]] == found["columns"]
    assert owner.delete(f"{UPLOADS}/{found['id']}").status_code == 200
    assert left_behind(server) == []


def test_the_bounds_follow_the_settings(server):
    assert UploadBounds.of(server.context.settings).size == LARGEST
    assert server.app.state.uploads.folder.stat().st_mode & 0o077 == 0


CHANGES = {"POST", "PUT", "PATCH", "DELETE"}


def concrete(path):
    return path.replace("{upload_id}", "0" * 32).replace("{", "").replace("}", "")


def changing_routes(app):
    """Yield what changes something in its caller's name; a survey's collector does not ask who calls."""
    for route in all_routes(app.routes):
        if isinstance(route, APIRoute) and roles_of(route.endpoint) is not None:
            for method in sorted(route.methods & CHANGES):
                yield method, route.path


def signed_in(client, server):
    reply = client.post("/api/v1/session", json={"token": server.token()})
    assert reply.status_code == 200
    return reply.json()["csrf"]


@pytest.fixture
def browser(server):
    with server.client() as client:
        yield client


def test_no_change_is_accepted_from_a_session_without_its_csrf_token(
    server, browser, record_property
):
    with server.client() as other:
        foreign = signed_in(other, server)
    client, csrf = browser, signed_in(browser, server)
    routes = [
        r
        for r in changing_routes(server.app)
        if r[1] != "/api/v1/session" and r[1].startswith("/api/")
    ]
    assert len(routes) >= 10
    wrong = [{}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": foreign}, {"X-CSRF-Token": csrf[:-1]}]
    wrong += [
        {"X-CSRF-Token": csrf + "a"},
        {"X-CSRF-Token": "\u00e9".encode()},
        {"X-XSRF-Token": csrf},
    ]
    accepted = 0
    bodies = [
        {"json": {}},
        {"files": {"file": ("a.csv", text("a,b"))}},
        {"data": {"csrf": csrf}},
    ]
    for number, (method, path) in enumerate(routes):
        for place, headers in enumerate(wrong):
            # Every route meets every wrong token and every body, and every wrong token every body.
            for body in bodies if FULL else [bodies[(number + place) % 3]]:
                reply = client.request(method, concrete(path), headers=headers, **body)
                assert reply.status_code == 403, (method, path, headers, reply.text)
                accepted += reply.status_code != 403
    assert accepted == 0
    assert left_behind(server) == []
    # The other side: with its token, the same session may.
    right = {"X-CSRF-Token": csrf}
    for method, path in routes:
        if "session" not in path:
            reply = client.request(method, concrete(path), headers=right, json={"x": 1})
            assert reply.status_code not in (401, 403), (method, path, reply.text)
    reply = client.post(UPLOADS, headers=right, files={"file": ("a.csv", text("a,b"))})
    assert reply.status_code == 201
    assert client.delete(f"{UPLOADS}/{reply.json()['id']}", headers=right).status_code == 200
    record_property("changing routes x wrong CSRF tokens, 0 accepted", len(routes) * len(wrong))


METHODS = ("GET", "POST", "OPTIONS", "PUT")


def test_every_answer_carries_the_security_headers(server, owner):
    seen = set()
    with server.client() as nobody:
        for client in (owner, nobody):
            for number, route in enumerate(all_routes(server.app.routes)):
                path = concrete(getattr(route, "path", "/"))
                if path.endswith("/events"):
                    continue
                # Every route is read by the owner, and every method meets every kind of route.
                turns = (
                    {METHODS[0], METHODS[number % 4]} if client is owner else {METHODS[number % 2]}
                )
                for method in METHODS if FULL else turns:
                    reply = client.request(method, path)
                    seen.add(reply.status_code)
                    check_headers(reply)
        for path in ("/nowhere", "/static/nothing.css", "/api/v1/nowhere", "/%00", "/static/../x"):
            check_headers(nobody.get(path))
        too_large = nobody.post(UPLOADS, content=b"x" * (LARGEST + (1 << 17)))
        assert too_large.status_code == 413
        check_headers(too_large)
    assert {200, 400, 401, 404, 405} <= seen
    check_headers(send(owner, "a.csv", b""))


def test_a_failure_of_ours_carries_them_too(server, monkeypatch):
    def fail(_id):
        raise ZeroDivisionError(CANARY)

    monkeypatch.setattr(server.app.state.uploads, "find", fail)
    with server.client(server.token()) as client:
        reply = client.delete(f"{UPLOADS}/{'0' * 32}")
    assert reply.status_code == 500
    check_headers(reply)
    check_problem(server, reply, 500, "inside the server")


def check_headers(reply):
    for name, value in HEADERS.items():
        assert reply.headers.get(name) == value, (reply.url, name)
    policy = reply.headers["content-security-policy"]
    for needed in ("default-src 'self'", "frame-ancestors 'none'", "object-src 'none'"):
        assert needed in policy
    assert "unsafe" not in policy
    assert not [name for name in reply.headers if name.lower().startswith("access-control")]
    assert "server" not in reply.headers
    if "/static/" not in str(reply.url):
        assert reply.headers["cache-control"] == "no-store", reply.url


def test_other_origins_get_no_leave(server):
    with server.client() as client:
        for origin in ("https://evil.example", "null", server.url + ".evil.example"):
            reply = client.options(
                UPLOADS, headers={"Origin": origin, "Access-Control-Request-Method": "POST"}
            )
            check_headers(reply)
            assert reply.status_code in (401, 405)
