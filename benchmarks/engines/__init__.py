"""Stores and rankings that are measured, each a program for an environment of its own."""
