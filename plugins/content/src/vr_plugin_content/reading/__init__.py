"""From a source to a document: opened, checked, parsed, recognised, kept."""
