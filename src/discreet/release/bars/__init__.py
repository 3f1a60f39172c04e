"""Error bars and confidence sets of outputs, from noise laws and paid values alone.

Imported by: api, release, release/planning.
"""
