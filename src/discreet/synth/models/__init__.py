"""Models that rows are drawn from: chains of conditional tables, junction trees, mixtures.

Methods fit them; post-processing only.

Imported by: synth, synth/linked, synth/methods, synth/report.
"""
