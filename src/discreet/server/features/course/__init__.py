"""The course as pages: its contents, one page a lesson, and answers that are graded.

Only the frame finds it, through its `pages`.
"""
