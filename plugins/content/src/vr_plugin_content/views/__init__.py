"""Views: what there is to see of documents and analyses."""
