"""The lesson 'consent': consent, law and limits."""
