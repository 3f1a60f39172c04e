"""The course as pages: its contents, one page a lesson, and answers that are graded."""
