"""Tables of lakes (Delta) and of object stores (S3, Google, Azure), as files that an engine can read.

Only the engines' own file finding imports from here.
"""
