"""An owner's files and declarations: upload, review, confirm, budgets and shares."""
