"""The owner's review of an upload, and the one moment at which something becomes public.

Imported by: server/features/data.
"""
