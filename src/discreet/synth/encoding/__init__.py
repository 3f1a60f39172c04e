"""Columns as small codes and back: declared and learned domains.

synth/ and learn/ import from here.
"""
