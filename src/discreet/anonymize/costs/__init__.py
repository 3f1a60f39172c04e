"""What an anonymization costs: one file for each cost, which the search makes small and every copy is measured by.

Only anonymize/ imports from here, and front ends the names in `registry`.
"""
