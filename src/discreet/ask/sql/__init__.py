"""SQL text to plan, and plan to SQL.

Imported by: api, course, learn, publish, release, synth.
"""
