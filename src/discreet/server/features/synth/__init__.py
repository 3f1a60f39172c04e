"""Synthetic copies over HTTP: bodies, jobs, the shelf of copies, pages."""
