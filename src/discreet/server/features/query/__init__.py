"""Ask and explain over HTTP, jobs, the catalog, and the pages around them."""
