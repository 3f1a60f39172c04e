"""Anonymization: k-anonymity and its kin. No guarantee; every output says so."""
