"""Attacks, the course and the made-up town they use."""
