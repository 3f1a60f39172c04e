"""Models that rows are drawn from, and how they are fitted: conditional chains, junction trees, mixtures.

Methods fit them; post-processing only.

Imported by: work/synth, work/synth/methods, work/synth/report.
"""
