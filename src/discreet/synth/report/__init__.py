"""What a synthetic table supports: measures, verdicts, publishable and owner's reports.

synth/, api, commands and server import from here.
"""
