"""What a question comes back as: the answer, its explanation, and both as text and chart.

Imports the rest of core; nothing in core imports it but requests for people.
"""
