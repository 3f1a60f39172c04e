"""The attack lab: attacks as jobs, and their outcomes."""
