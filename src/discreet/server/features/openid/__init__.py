"""Signing in by an OpenID Connect provider: its settings, its answers checked, two pages."""
