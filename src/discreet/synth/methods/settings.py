"""Settings of methods that must be whole numbers of at least 1."""

from __future__ import annotations

from discreet.errors import InvalidInput


def check_whole(method: str, **settings: object) -> None:
    """Refuse a setting that is not a whole number of at least 1.

    >>> check_whole("rap", rounds=3)
    """
    for name, value in settings.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise InvalidInput(
                f"The setting '{name}' of {method} must be a whole number, at least 1."
            )
