"""Views of reports, plans and checks."""
