"""Columns as small codes and back: declared and learned domains.

Imported by: attack, learn, server, synth, synth/fitting, synth/linked, synth/measure, synth/methods,
synth/models, synth/report.
"""
