"""An analysis as a file: completed, and written as a page, as Markdown or as data."""
