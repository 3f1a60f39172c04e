"""SQL text to plan, and plan to SQL.

Imported by: api, course, publish, release, synth.
"""
