"""The kernel's version; the distribution's metadata repeats it."""

VERSION = "0.1.0"
