"""The lesson 'k_anonymity': classes of k, and how they leak."""
