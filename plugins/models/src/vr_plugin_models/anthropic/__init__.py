"""Anthropic, and services that speak its protocol."""
