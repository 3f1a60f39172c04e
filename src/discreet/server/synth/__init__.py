"""Synthetic copies through the server: wishes, jobs, and the folder where copies are kept."""
