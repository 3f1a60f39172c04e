"""What an answer leaves behind: its stored form, the cells that were paid for, and noise that was drawn.

Imported by: api, release, release/bounds, release/post_processing.
"""
