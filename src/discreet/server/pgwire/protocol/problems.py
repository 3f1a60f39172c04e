"""Errors as SQLSTATE codes: the code a PostgreSQL client would expect, and one clear sentence."""

from __future__ import annotations

from discreet import errors
from discreet.errors import DiscreetError
from discreet.server.failures import log_failure
from discreet.server.pgwire.protocol import replies


class Failure(DiscreetError):
    """A refusal with a SQLSTATE of its own, and the letter of the text that it is about (or 0)."""

    def __init__(self, code: str, message: str, *, hint: str = "", position: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.position = position


_CODES: tuple[tuple[type[DiscreetError], str], ...] = (
    (errors.NotSignedIn, "28000"),
    (errors.AccessDenied, "42501"),
    (errors.BudgetExceeded, "53400"),
    (errors.UnknownName, "42P01"),
    (errors.NotReviewed, "42501"),
    (errors.CatalogError, "42501"),
    (errors.RequestConflict, "23505"),
    (errors.StillRunning, "55P03"),
    (errors.AnswerLost, "58000"),
    (errors.Cancelled, "57014"),
    (errors.TooLarge, "54000"),
    (errors.TooManyRequests, "53300"),
    (errors.EngineFailed, "58000"),
    (errors.LedgerBusy, "55P03"),
    (errors.LedgerError, "58030"),
    (errors.NotInForce, "57P03"),
    (errors.CollectorClosed, "57P03"),
    (errors.MissingExtra, "0A000"),
    (errors.InvalidInput, "22023"),
    (errors.ServerFailed, "XX000"),
    (DiscreetError, "XX000"),
)
"""The first that fits gives the code."""

_REFUSED = {"syntax": "42601", "function": "42883"}


def code_of(error: DiscreetError) -> str:
    """Return the SQLSTATE of an error."""
    if isinstance(error, Failure):
        return error.code
    if isinstance(error, errors.QueryRefused):
        return _REFUSED.get(error.construct, "0A000")
    if isinstance(error, errors.UnknownName) and "column" in error.message:
        return "42703"
    return next(code for kind, code in _CODES if isinstance(error, kind))


def reply_of(error: BaseException, *, severity: str = "ERROR") -> bytes:
    """Return the message for an error; one that nobody foresaw says nothing about itself."""
    if isinstance(error, DiscreetError):
        position = error.position if isinstance(error, Failure) else 0
        return replies.problem(
            code_of(error), error.message, hint=error.hint, severity=severity, position=position
        )
    log_failure(error)
    said = "Something went wrong inside the server; nothing uncharged was released."
    return replies.problem("XX000", said, severity=severity)
