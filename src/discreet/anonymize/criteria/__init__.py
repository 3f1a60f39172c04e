"""What a class must be like: k-anonymity, l-diversity, t-closeness.

Only anonymize/ imports from here.
"""
