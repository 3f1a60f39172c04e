"""Vocabulary: frozen values without I/O, chance or SQL."""
