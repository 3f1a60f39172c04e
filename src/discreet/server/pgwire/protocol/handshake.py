"""Signing in: TLS, the startup message, and SCRAM with a token as the password."""

from __future__ import annotations

import asyncio
import struct
from contextlib import suppress

from discreet.errors import TooManyRequests
from discreet.server.access.audit_log import STRANGER, AuditAction
from discreet.server.access.limits import Buckets, fine
from discreet.server.access.tokens import Token, Tokens
from discreet.server.pgwire.protocol import messages as m
from discreet.server.pgwire.protocol import replies, scram
from discreet.server.pgwire.protocol.certificate import Tls
from discreet.server.pgwire.protocol.channel import Channel
from discreet.server.pgwire.protocol.problems import Failure

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
    mechanisms = [scram.PLUS, scram.PLAIN] if channel.tls else [scram.PLAIN]
    offered = b"".join(map(replies.text, mechanisms)) + b"\0"
    channel.put(replies.authentication(_SASL, offered))
    keys = tokens.verifiers(user)
    try:
        mechanism, first = _initial(await _secret(channel), mechanisms)
        begun = scram.challenge(first, mechanism=mechanism, salt=tokens.salt, tls=channel.tls)
        channel.put(replies.authentication(_CONTINUE, begun.said.encode()))
        place, said = scram.prove(await _secret(channel), begun, keys, binding=tls.binding)
    except scram.ScramError:
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
    channel.put(replies.authentication(_FINAL, said.encode()))
    channel.put(replies.authentication(_OK))
    return token


async def _secret(channel: Channel) -> bytes:
    message = await channel.next(SECONDS)
    if not isinstance(message, m.Secret) or len(message.data) > 5000:
        raise m.ProtocolError("not a step of signing in")
    return message.data


def _initial(data: bytes, mechanisms: list[str]) -> tuple[str, bytes]:
    name, _, rest = data.partition(b"\0")
    if len(rest) < 4:
        raise scram.ScramError("no first message")
    size: int = struct.unpack("!i", rest[:4])[0]
    if size != len(rest) - 4:
        raise scram.ScramError("a wrong length")
    mechanism = name.decode("ascii", "replace")
    if mechanism not in mechanisms:
        raise scram.ScramError("a mechanism that was not offered")
    return mechanism, rest[4:]


def still_valid(tokens: Tokens, token: Token) -> None:
    """Raise when the token has been revoked or has expired since it was used to sign in."""
    if tokens.by_id(token.id) is None:
        raise no_longer_valid()


def no_longer_valid() -> Failure:
    """Return what a session hears whose token has come to its end."""
    return Failure("57P01", "The token was revoked or has expired.", hint="Ask for a new one.")
