"""A server's releases: drafted, rehearsed, approved, published, withdrawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from discreet.client.connection import ServerConnection
from discreet.client.results import RemotePublication, RemoteRehearsal
from discreet.core.progress import silent
from discreet.core.requests.asks import asks
from discreet.core.requests.publish import PackageFields
from discreet.core.requests.request_fields import beside
from discreet.core.requests.schema import WithProgress, schema
from discreet.core.system.regular_file import read_text
from discreet.errors import InvalidInput


@schema
class PackageCall(WithProgress, PackageFields):
    """A release of one spec of this machine, and who is told how far it is."""

    spec: str | Path = beside("The SPEC.toml that describes the release.", kw_only=False)


class RemotePublishing(ServerConnection):
    """Publications of a server. Who drafts, approves or withdraws is whose token it is.

    `spec` is the path of a SPEC.toml of this machine; the files of its exact facts lie on the server.
    """

    @asks(PackageCall)
    def publish(self, asked: PackageCall) -> RemotePublication:
        """Return a release that the server charged, made and signed; see `Curator.publish`.

        The package is written to `out`, where one is given.
        """
        place = f"/publish/{self._drafted(asked.spec)}/release"
        facts = self._done(place, None, asked.progress)
        if asked.out is not None:
            target = Path(asked.out)
            target.write_bytes(self._file(f"/releases/{_part(facts['release'])}/package.zip"))
            facts = facts | {"out": str(target)}
        return RemotePublication(facts)

    def draft_release(self, spec: str | Path) -> dict[str, Any]:
        """Return where a release stands after its draft was written down; nothing is charged.

        `digest` in it is what an approval by a second person names.
        """
        return self._call("POST", "/publish", {"spec": _text(spec)})

    def rehearse_release(self, spec: str | Path) -> RemoteRehearsal:
        """Return what a release would look like on made-up rows: costs nothing."""
        return RemoteRehearsal(self._done("/publish/rehearse", {"spec": _text(spec)}, silent))

    def approve_release(self, spec: str | Path, *, digest: str | None = None) -> dict[str, Any]:
        """Return where a release stands after it was approved.

        `digest` is that of the draft that was read; a server always asks for it.
        """
        if digest is None:
            raise InvalidInput(
                "Say which draft you have read: an approval names its digest.",
                hint="draft_release(SPEC)['digest'] names it.",
            )
        return self._call("POST", f"/publish/{_name(spec)}/approve", {"digest": digest})

    def withdraw_release(self, spec: str | Path, *, reason: str) -> dict[str, Any]:
        """Return where a release stands after it was withdrawn; what it cost stays spent."""
        return self._call("POST", f"/publish/{_name(spec)}/withdraw", {"reason": reason})

    def releases(self) -> list[dict[str, Any]]:
        """Return every release that was ever drafted and where it stands, latest change last."""
        found: list[dict[str, Any]] = self._call("GET", "/publish")["releases"]
        return found

    def release_key(self) -> str:
        """Return the owner's public key, by which anyone can check a package."""
        return str(self._call("GET", "/publish")["key"])

    def _drafted(self, spec: str | Path) -> str:
        return _part(str(self.draft_release(spec)["release"]))


def _text(spec: str | Path) -> str:
    try:
        return read_text(Path(spec))
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(f"There is no readable file '{spec}'.") from None


def _name(spec: str | Path) -> str:
    import tomllib

    try:
        return _part(str(tomllib.loads(_text(spec))["release"]["name"]))
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        raise InvalidInput(f"'{spec}' names no release: it has no [release] with a name.") from None


def _part(name: str) -> str:
    return quote(name, safe="")
