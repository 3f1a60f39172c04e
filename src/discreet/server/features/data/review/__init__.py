"""The owner's review of an upload, and the one moment at which something becomes public.

Only features/data imports from here.
"""
