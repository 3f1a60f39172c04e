"""Error bars and confidence sets of outputs, from noise laws and paid values alone.

Imported by: release, release/bounds, release/kept, release/planning.
"""
