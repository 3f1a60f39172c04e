"""Publishing on the page: drafts, rehearsals, approval, release, and the public page of a package.

The application adds its routes and pages; nothing else imports it.
"""
