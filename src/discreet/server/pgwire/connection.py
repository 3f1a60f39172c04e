"""One connection: its bytes in whole messages, TLS, the startup message, and SCRAM with a token as the password."""

from __future__ import annotations

import asyncio
import base64
import binascii
import datetime as dt
import hashlib
import hmac
import ipaddress
import secrets
import ssl
import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from discreet.base.files import write_whole
from discreet.errors import InvalidInput, TooManyRequests
from discreet.server.access.audit_log import STRANGER, AuditAction
from discreet.server.access.limits import Buckets, fine
from discreet.server.access.tokens import ROUNDS, Token, Tokens, Verifier
from discreet.server.pgwire import messages
from discreet.server.pgwire import messages as m
from discreet.server.pgwire.messages import (
    MAX_MESSAGE,
    MAX_STARTUP,
    Failure,
    First,
    Message,
    ProtocolError,
    read_first,
    read_message,
)
from discreet.server.settings import Settings

_FULL = 2 * MAX_MESSAGE
"""Unread bytes after which the client must wait."""


class Disconnected(Exception):  # says it better than DisconnectedError
    """The client has hung up, or was silent for too long."""


class Channel(asyncio.Protocol):
    """Bytes to and from one client.

    Guarantee: never more than a few messages are held in memory; what was sent before TLS began is
        never read as if it had come through TLS.
    """

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._arrived = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._ended = False
        self._paused = False
        self.tls = False
        self._made = asyncio.Event()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin; also called when TLS has taken over."""
        assert isinstance(transport, asyncio.Transport), "a stream"
        self._transport = transport
        self._made.set()

    def data_received(self, data: bytes) -> None:
        """Keep what came, and let the client wait when that is too much."""
        self._buffer += data
        if len(self._buffer) > _FULL and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        self._arrived.set()

    def eof_received(self) -> bool:
        """Note that nothing more will come."""
        self._ended = True
        self._arrived.set()
        return False

    def connection_lost(self, _error: Exception | None, /) -> None:
        """Note that nobody listens any more."""
        self._ended = True
        self._arrived.set()
        self._writable.set()

    def pause_writing(self) -> None:
        """Hold back: the client reads too slowly."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Go on."""
        self._writable.set()

    # What the session calls.

    @property
    def peer(self) -> str:
        """Return the network address of the client."""
        found = self._transport.get_extra_info("peername") if self._transport else None
        return str(found[0]) if found else "unknown"

    @property
    def alive(self) -> bool:
        """Return whether the client is still there."""
        return not self._ended

    async def connected(self) -> None:
        """Wait until the connection stands."""
        await self._made.wait()

    async def first(self, seconds: float) -> First:
        """Return the connection's first message, or the next one after a refused one."""
        return read_first(await self._body(await self._take(4, seconds), MAX_STARTUP, seconds))

    async def next(self, seconds: float) -> Message:
        """Return the next message; `seconds` is how long the client may be silent."""
        head = await self._take(5, seconds)
        return read_message(head[:1], await self._body(head[1:], MAX_MESSAGE, seconds))

    async def _body(self, length: bytes, limit: int, seconds: float) -> bytes:
        size: int = struct.unpack("!i", length)[0] - 4
        if not 0 <= size <= limit:
            raise ProtocolError("a message is too long, or this is another protocol")
        return await self._take(size, seconds)

    async def _take(self, count: int, seconds: float) -> bytes:
        try:
            async with asyncio.timeout(seconds):
                while len(self._buffer) < count:
                    if self._ended:
                        raise Disconnected
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            raise Disconnected from None
        found = bytes(self._buffer[:count])
        del self._buffer[:count]
        if self._paused and len(self._buffer) <= _FULL // 2 and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return found

    def put(self, data: bytes) -> None:
        """Send; `drained` waits until the client keeps up."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    async def drained(self, seconds: float) -> None:
        """Wait until the client has read most of what was sent."""
        if self._writable.is_set():
            return
        try:
            async with asyncio.timeout(seconds):
                await self._writable.wait()
        except TimeoutError:
            raise Disconnected from None

    async def start_tls(self, context: ssl.SSLContext, seconds: float) -> None:
        """Speak TLS from here on."""
        if self._buffer:
            raise ProtocolError("bytes before TLS has begun")
        assert self._transport is not None, "connected"
        self._transport.pause_reading()
        loop = asyncio.get_running_loop()
        try:
            transport = await loop.start_tls(
                self._transport, self, context, server_side=True, ssl_handshake_timeout=seconds
            )
        except (OSError, ssl.SSLError, TimeoutError):
            raise Disconnected from None
        if transport is None:
            raise Disconnected
        self._transport = transport
        self.tls = True

    def close(self) -> None:
        """Hang up, after what was written has been sent."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Hang up now."""
        if self._transport is not None:
            self._transport.abort()


SECONDS = 30.0
"""How long a client may take for each step before it is signed in."""
_SASL, _CONTINUE, _FINAL, _OK = 10, 11, 12, 0
_WRONG = 20.0
"""What a failed sign-in takes from the bucket of its address."""


async def arrive(channel: Channel, tls: Tls, *, plain: bool) -> m.Startup | m.CancelRequest:
    """Return what the client wants, to sign in or to cancel, through TLS if it asked for that.

    `plain` says whether a client may do without TLS: only where nobody else can listen.
    """
    for _ in range(3):
        first = await channel.first(SECONDS)
        if first is m.WireSignal.TLS_REQUEST and not channel.tls:
            channel.put(b"S")
            await channel.start_tls(tls.context, SECONDS)
        elif first is m.WireSignal.GSS_REQUEST:
            channel.put(b"N")
        elif isinstance(first, m.CancelRequest):
            return first
        elif isinstance(first, m.Startup):
            if not (channel.tls or plain):
                raise Failure("28000", "This server only speaks TLS.", hint="Use sslmode=require.")
            return first
    raise m.ProtocolError("no startup message")


async def sign_in(
    channel: Channel, user: str, tokens: Tokens, tls: Tls, by_address: Buckets
) -> Token:
    """Return the token that the client has proven to hold; the audit log tells how it went."""
    by_address.take(channel.peer)
    mechanisms = [PLUS, PLAIN] if channel.tls else [PLAIN]
    offered = b"".join(map(messages.text, mechanisms)) + b"\0"
    channel.put(messages.authentication(_SASL, offered))
    keys = tokens.verifiers(user)
    try:
        mechanism, first = _initial(await _secret(channel), mechanisms)
        begun = challenge(first, mechanism=mechanism, salt=tokens.salt, tls=channel.tls)
        channel.put(messages.authentication(_CONTINUE, begun.said.encode()))
        place, said = prove(await _secret(channel), begun, keys, binding=tls.binding)
    except ScramError:
        with suppress(TooManyRequests):
            fine(by_address, channel.peer, _WRONG)
        facts = {"way": "postgres", "address": channel.peer}
        log = tokens.audit.record_limited
        await asyncio.to_thread(log, STRANGER, AuditAction.SIGN_IN_FAILED, **facts)
        raise Failure(
            "28P01",
            "Signing in failed.",
            hint="The user is your analyst name or role, the password your token.",
        ) from None
    token = keys[place].token
    await asyncio.to_thread(tokens.audit.record, token.actor, AuditAction.SIGNED_IN, way="postgres")
    channel.put(messages.authentication(_FINAL, said.encode()))
    channel.put(messages.authentication(_OK))
    return token


async def _secret(channel: Channel) -> bytes:
    message = await channel.next(SECONDS)
    if not isinstance(message, m.Secret) or len(message.data) > 5000:
        raise m.ProtocolError("not a step of signing in")
    return message.data


def _initial(data: bytes, mechanisms: list[str]) -> tuple[str, bytes]:
    name, _, rest = data.partition(b"\0")
    if len(rest) < 4:
        raise ScramError("no first message")
    size: int = struct.unpack("!i", rest[:4])[0]
    if size != len(rest) - 4:
        raise ScramError("a wrong length")
    mechanism = name.decode("ascii", "replace")
    if mechanism not in mechanisms:
        raise ScramError("a mechanism that was not offered")
    return mechanism, rest[4:]


def still_valid(tokens: Tokens, token: Token) -> None:
    """Raise when the token has been revoked or has expired since it was used to sign in."""
    if tokens.by_id(token.id) is None:
        raise no_longer_valid()


def no_longer_valid() -> Failure:
    """Return what a session hears whose token has come to its end."""
    return Failure("57P01", "The token was revoked or has expired.", hint="Ask for a new one.")


PLAIN = "SCRAM-SHA-256"
PLUS = "SCRAM-SHA-256-PLUS"
_BINDING = "p=tls-server-end-point"


class ScramError(Exception):
    """The dialogue went wrong; the client only learns that signing in failed."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """The server's first message, and what must be remembered of the dialogue so far."""

    said: str
    bare: str
    header: str
    nonce: str


def challenge(
    first: bytes, *, mechanism: str, salt: bytes, tls: bool, nonce: str = ""
) -> Challenge:
    """Return the answer to the client's first message.

    Guarantee: it is the same for known and unknown users, so it tells nobody who exists.
    """
    header, _, rest = _text(first).partition(",")
    authority, _, bare = rest.partition(",")
    _check_header(header, mechanism, tls=tls)
    if authority:
        raise ScramError("no authorization identity is taken")
    fields = bare.split(",")
    if len(fields) < 2 or not fields[0].startswith("n=") or not fields[1].startswith("r="):
        raise ScramError("not a first message")
    if len(fields[1]) < 10 or len(fields[1]) > 200:
        raise ScramError("the client's nonce is too short or too long")
    both = fields[1][2:] + (nonce or secrets.token_urlsafe(18))
    said = f"r={both},s={base64.b64encode(salt).decode()},i={ROUNDS}"
    return Challenge(said, bare, f"{header},,", both)


def _check_header(header: str, mechanism: str, *, tls: bool) -> None:
    # "y" says: I would bind but you do not offer it. Where we did offer it, somebody in the middle
    # took the offer away.
    without = ("n",) if tls else ("n", "y")
    if header not in ((_BINDING,) if mechanism == PLUS else without):
        raise ScramError("the binding does not fit the mechanism")


def prove(
    final: bytes, begun: Challenge, keys: Sequence[Verifier], *, binding: bytes = b""
) -> tuple[int, str]:
    """Return which of `keys` the client has proven to know, and the server's own proof.

    Guarantee: all keys are tried whatever happens, and compared in constant time.
    """
    said = _text(final)
    without, _, proof_text = said.rpartition(",p=")
    fields = without.split(",")
    if len(fields) < 2 or not fields[0].startswith("c=") or fields[1] != f"r={begun.nonce}":
        raise ScramError("not a final message")
    expected = begun.header.encode() + (binding if begun.header.startswith("p=") else b"")
    if not hmac.compare_digest(_decoded(fields[0][2:]), expected):
        raise ScramError("bound to another channel")
    message = f"{begun.bare},{begun.said},{without}".encode()
    proof = _decoded(proof_text)
    if len(proof) != 32:
        raise ScramError("a proof has 32 bytes")
    found = -1
    for place, key in enumerate(keys):
        signature = hmac.digest(key.stored_key, message, "sha256")
        client_key = bytes(one ^ two for one, two in zip(proof, signature, strict=True))
        if hmac.compare_digest(hashlib.sha256(client_key).digest(), key.stored_key):
            found = place
    if found < 0:
        raise ScramError("wrong proof")
    server = hmac.digest(keys[found].server_key, message, "sha256")
    return found, f"v={base64.b64encode(server).decode()}"


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ScramError("not text") from None


def _decoded(written: str) -> bytes:
    try:
        return base64.b64decode(written.encode(), validate=True)
    except (binascii.Error, ValueError):
        raise ScramError("not base64") from None


CERTIFICATE, KEY = "pg-certificate.pem", "pg-key.pem"
YEARS = 10


@dataclass(frozen=True, slots=True)
class Tls:
    """A context for the server's side, and the hash that SCRAM binds a channel to (RFC 5929)."""

    context: ssl.SSLContext
    binding: bytes


def tls_of(settings: Settings) -> Tls:
    """Return TLS with the certificate of `settings`, or with our own, made if there is none yet."""
    if settings.tls_certificate is not None and settings.tls_key is not None:
        certificate, key = settings.tls_certificate, settings.tls_key
    else:
        certificate, key = own_certificate(settings.state_folder, settings.host)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
        return Tls(context, _binding(certificate.read_bytes()))
    except (OSError, ValueError):
        raise InvalidInput(
            f"'{certificate}' and its key cannot be used for TLS.",
            hint="Both must be PEM files, and the key must not ask for a password.",
        ) from None


def own_certificate(folder: Path, host: str) -> tuple[Path, Path]:
    """Return the paths of a self-signed certificate and its key."""
    certificate, key = folder / CERTIFICATE, folder / KEY
    if not (certificate.is_file() and key.is_file()):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        made, secret = _self_signed(host)
        write_whole(key, secret)
        write_whole(certificate, made)
    return certificate, key


def _self_signed(host: str) -> tuple[bytes, bytes]:
    secret = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Discreet")])
    now = dt.datetime.now(dt.UTC)
    names: list[x509.GeneralName] = [x509.DNSName("localhost")]
    try:
        names.append(x509.IPAddress(ipaddress.ip_address(host)))
    except ValueError:
        names.append(x509.DNSName(host))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(secret.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=365 * YEARS))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(secret, hashes.SHA256())
    )
    spelled = secret.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return made.public_bytes(serialization.Encoding.PEM), spelled


def _binding(pem: bytes) -> bytes:
    certificate = x509.load_pem_x509_certificates(pem)[0]
    signed = certificate.signature_hash_algorithm
    # RFC 5929: the certificate's own hash function, but never one weaker than SHA-256.
    weak = signed is None or isinstance(signed, hashes.MD5 | hashes.SHA1)
    return certificate.fingerprint(hashes.SHA256() if weak or signed is None else signed)
