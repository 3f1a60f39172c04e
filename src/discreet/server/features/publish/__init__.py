"""Publishing on the page: drafts, rehearsals, approval, release, and the public page of a package."""
