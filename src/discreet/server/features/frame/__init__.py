"""The first page, signing in and out, the notes, and the files that all pages load."""
