"""What a question comes back as: the answer, its explanation, and both as text and chart.

Imported by: many rooms.
"""
