"""What a synthetic table supports: measures, verdicts, publishable and owner's reports.

Imported by: curator, tasks, work/synth.
"""
