"""A small S3: lists, describes and gives the files of a folder over HTTP, as much as a reader needs."""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import threading
from collections.abc import Iterator
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


@contextlib.contextmanager
def s3(folder: Path) -> Iterator[ThreadingHTTPServer]:
    """Serve the folders below `folder` as buckets; `server.asked` has the objects that were given.

    `server.listed` counts how often a bucket was listed.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            return

        def do_HEAD(self):
            self._answer(body=False)

        def do_GET(self):
            self._answer(body=True)

        def _answer(self, *, body):
            place = urlsplit(self.path)
            bucket, _, key = unquote(place.path).lstrip("/").partition("/")
            options = {k: v[0] for k, v in parse_qs(place.query, keep_blank_values=True).items()}
            if not key:
                server.listed += 1
                return self._send(_listing(folder, bucket, options).encode(), body=body)
            path = folder / bucket / key
            if not path.is_file():
                return self._send(b"", status=404, body=False)
            whole = path.read_bytes()
            if body:
                server.asked.append(key)
            start, end, status = 0, len(whole), 200
            if wanted := self.headers.get("Range"):
                first, _, last = wanted.removeprefix("bytes=").partition("-")
                start, end, status = int(first), min(len(whole), int(last) + 1), 206
            return self._send(whole[start:end], status=status, body=body, path=path)

        def _send(self, content, *, status=200, body=True, path=None):
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            if path is not None:
                time = dt.datetime.fromtimestamp(int(path.stat().st_mtime), dt.UTC)
                self.send_header("Last-Modified", format_datetime(time, usegmt=True))
                self.send_header("ETag", f'"{hashlib.md5(content).hexdigest()}"')
            self.end_headers()
            if body:
                self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked = []
    server.listed = 0
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def address(server: ThreadingHTTPServer, path: str) -> str:
    """Return the s3:// address of a path on this server."""
    place = f"127.0.0.1:{server.server_address[1]}"
    return f"s3://{path}?endpoint_override={place}&scheme=http&region=eu-central-1"


def _listing(folder: Path, bucket: str, options: dict[str, str]) -> str:
    prefix, delimiter = options.get("prefix", ""), options.get("delimiter", "")
    root = folder / bucket
    keys, shared = [], set()
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        key = path.relative_to(root).as_posix()
        if not key.startswith(prefix):
            continue
        if delimiter and delimiter in key.removeprefix(prefix):
            shared.add(prefix + key.removeprefix(prefix).partition(delimiter)[0] + delimiter)
        else:
            time = dt.datetime.fromtimestamp(path.stat().st_mtime, dt.UTC)
            keys.append((key, path.stat().st_size, time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")))
    most = int(options.get("max-keys", "1000"))
    contents = "".join(
        f"<Contents><Key>{escape(key)}</Key><Size>{size}</Size><LastModified>{time}</LastModified>"
        f'<ETag>"{size}"</ETag></Contents>'
        for key, size, time in keys[:most]
    )
    common = "".join(
        f"<CommonPrefixes><Prefix>{escape(p)}</Prefix></CommonPrefixes>" for p in sorted(shared)
    )
    return (
        '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>{bucket}</Name><KeyCount>{len(keys) + len(shared)}</KeyCount>"
        f"<IsTruncated>false</IsTruncated>{contents}{common}</ListBucketResult>"
    )
