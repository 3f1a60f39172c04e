"""Anonymized copies on the server: legacy output, for owners, recorded as exposures."""
