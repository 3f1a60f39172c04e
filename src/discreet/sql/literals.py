"""Constants of generated SQL, under the name that the writers of questions know them by."""

from discreet.kernel.literals import column_name, constant, decimal, text

__all__ = ["column_name", "constant", "decimal", "text"]
