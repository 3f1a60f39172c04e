"""Every exception that Discreet raises on purpose.

    DiscreetError                 a user's mistake or a limit that was reached: one clear sentence
    ├── InvalidInput              a number, an option or a file that makes no sense
    │   ├── BadRows               rows in memory that an estimator cannot take: also a ValueError
    │   └── FactsContradict       exact facts of a release that no whole numbers can meet
    ├── CatalogError              discreet.toml is wrong or incomplete
    │   ├── UnknownName           no such dataset, table, column or analyst
    │   └── NotReviewed           the owner has not declared this column public yet
    ├── QueryRefused              SQL that we decline, and what to write instead
    ├── BudgetExceeded            the charge does not fit; nothing was charged
    ├── LedgerError               the ledger cannot be used as it is
    │   ├── NotALedger            the file or database is something else
    │   ├── LedgerTampered        its history does not match its own hashes, or is older than its head
    │   ├── AuditTampered         the server's audit log does not match its own hashes
    │   ├── LedgerBusy            another process held it for too long; nothing was charged
    │   └── LedgerWriteFailed     disk full or worse; nothing is answered
    ├── RequestConflict           this request id was used before, for something else
    ├── StillRunning              this very request is being answered right now; ask again
    ├── AnswerLost                paid for and begun, never answered: final, the charge stands
    ├── EngineFailed              the database could not answer; the charge stands
    ├── AccessDenied              a server does not let this caller do this
    │   ├── NotSignedIn           no token, or one that is unknown, expired or revoked
    │   └── NotAllowed            the token's role does not include it
    ├── TooManyRequests           slow down; nothing was done
    ├── CollectorClosed           a server takes no reports to surveys just now; nothing was kept
    ├── TooLarge                  more bytes than the server takes
    ├── Cancelled                 the question was stopped on request
    ├── NotInForce                a changed discreet.toml is not in force yet; nothing was asked
    ├── ServerFailed              a server could not be reached, or failed
    └── MissingExtra              an optional package is not installed
    InternalError                 our own bug, never the user's

Messages say what, why and what to do. They never contain a value from a private row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping


class DiscreetError(Exception):
    """A mistake or a limit that the user can do something about."""

    MORE: ClassVar[tuple[str, ...]] = ()
    """Attributes of this kind beside its sentence: public texts, told wherever the sentence is."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def kind(self) -> str:
        """Return the public name of this error."""
        return type(self).__name__

    def facts(self) -> dict[str, str]:
        """Return all that this error says, as plain text; `from_facts` makes it again."""
        return {"kind": self.kind, "message": self.message, "hint": self.hint, **self.more()}

    def more(self) -> dict[str, str]:
        """Return what it says beside its sentence."""
        return {name: str(getattr(self, name)) for name in self.MORE}

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints for this error."""
        return {"error": self.facts()}

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class InvalidInput(DiscreetError):
    """A number, an option or a file that makes no sense."""


class BadRows(InvalidInput, ValueError):
    """Rows in memory, or a parameter, that an estimator cannot take; scikit-learn expects ValueError."""


class FactsContradict(InvalidInput):
    """Exact facts of a release contradict each other, or a rule: no whole numbers meet all of them."""


class CatalogError(DiscreetError):
    """The catalog, usually discreet.toml, is wrong or incomplete."""


class UnknownName(CatalogError):
    """No such dataset, table, column or analyst."""


class NotReviewed(CatalogError):
    """The owner has not yet said that what was inferred about a column is public."""


class QueryRefused(DiscreetError):
    """SQL that is declined; `construct` names what was declined."""

    MORE = ("construct",)

    def __init__(self, message: str, *, hint: str = "", construct: str = "") -> None:
        super().__init__(message, hint=hint)
        self.construct = construct


class BudgetExceeded(DiscreetError):
    """The charge does not fit under a limit; nothing was charged."""

    MORE = ("asked", "left", "limit")

    def __init__(
        self, message: str, *, hint: str = "", asked: str = "", left: str = "", limit: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.asked = asked
        self.left = left
        self.limit = limit


class LedgerError(DiscreetError):
    """The ledger cannot be used as it is."""


class NotALedger(LedgerError):
    """The file or database exists but is not a ledger of ours."""


class LedgerTampered(LedgerError):
    """The history does not match its own hashes, or is older than the head kept outside."""


class AuditTampered(LedgerError):
    """The server's audit log does not match its own hashes, or is shorter than its head says."""


class LedgerBusy(LedgerError):
    """Another process held the ledger for too long; what was about to be entered was not."""


class LedgerWriteFailed(LedgerError):
    """The charge could not be made durable, so nothing is answered."""


class RequestConflict(DiscreetError):
    """The request id was used before with another question."""


class StillRunning(DiscreetError):
    """Another thread or process is answering this very request; nothing was charged for asking."""

    def __init__(
        self,
        message: str = "This question is being answered right now.",
        *,
        hint: str = "Ask again in a moment, under the same request id: it is paid for.",
    ) -> None:
        super().__init__(message, hint=hint)


class AnswerLost(DiscreetError):
    """The request was paid for and begun, but no answer was kept; it is never begun again."""

    def __init__(
        self,
        message: str = "This question was paid for and begun, but its answer was lost; the charge "
        "stands.",
        *,
        hint: str = "Asking again, under a new request id, is charged again.",
    ) -> None:
        super().__init__(message, hint=hint)


class EngineFailed(DiscreetError):
    """The database could not answer. The charge stands, whatever the reason was."""


class AccessDenied(DiscreetError):
    """A server does not let this caller do this."""


class NotSignedIn(AccessDenied):
    """There is no token, or it is unknown, expired or revoked."""


class NotAllowed(AccessDenied):
    """The role of the token does not include this."""


class TooManyRequests(DiscreetError):
    """The caller asks faster than the server allows; nothing was done."""


class CollectorClosed(DiscreetError):
    """The server takes no reports to this survey just now; nothing was kept, send it again later."""


class TooLarge(DiscreetError):
    """More bytes than the server takes."""


class Cancelled(DiscreetError):
    """The question was stopped on request; a charge that was made stands."""


class NotInForce(DiscreetError):
    """The server's discreet.toml was changed and is not in force yet; nothing was asked or charged."""


class ServerFailed(DiscreetError):
    """A server could not be reached, or failed."""


class MissingExtra(DiscreetError):
    """An optional package is not installed."""

    MORE = ("package", "extra")

    def __init__(self, package: str, *, extra: str) -> None:
        super().__init__(
            f"This needs the package '{package}', which is not installed.",
            hint=f"Run: pip install 'discreet[{extra}]' (or, where Discreet was cloned: make setup).",
        )
        self.package = package
        self.extra = extra


def from_facts(
    found: Mapping[str, Any], *, otherwise: type[DiscreetError] = DiscreetError
) -> DiscreetError:
    """Return an error as it was said before: of the same kind, in the same words.

    What an earlier version did not say is empty; a kind that nobody knows becomes `otherwise`.
    """
    kind = globals().get(str(found.get("kind", "")))
    if not (isinstance(kind, type) and issubclass(kind, DiscreetError)):
        kind = otherwise
    # Not by its own constructor: some kinds make their sentences themselves.
    said: DiscreetError = kind.__new__(kind)
    DiscreetError.__init__(said, str(found["message"]), hint=str(found["hint"]))
    for name in kind.MORE:
        setattr(said, name, str(found.get(name, "")))
    return said


class InternalError(Exception):
    """Our own bug. Please report it; nothing uncharged was released."""
