"""Post-processing of statements in several steps: private questions are released one by one, the rest is free.

Imported by: release, release/planning.
"""
