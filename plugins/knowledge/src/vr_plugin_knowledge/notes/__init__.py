"""A folder of Markdown for people: records are written into it, and their notes are found."""
