"""The relational tree, its domains, stability and mechanisms. Reads no rows.

Imported by: course, learn, publish, release, sql, synth.
"""
