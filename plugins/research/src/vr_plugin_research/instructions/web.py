"""The instruction of a research that the Gemini service does by itself."""

from __future__ import annotations

FORM = "\n\nFormat of the report: "


def research_prompt(topic: str, output_format: str) -> str:
    """Return the words that start a research."""
    wanted = output_format.strip()
    return f"{topic.strip()}{FORM}{wanted}" if wanted else topic.strip()
