"""A folder of Markdown that people read: what was recorded goes in, what they write is found."""
