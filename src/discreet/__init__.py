"""Algorithmic privacy in one product."""
