"""Models on the page and in the API: trained as jobs, kept on a shelf."""
