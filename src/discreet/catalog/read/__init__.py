"""discreet.toml read and checked: from text to declared datasets, or one clear sentence.

Anybody above the catalog may import from here.
"""
