"""Rules of indexing and ranking that all stores share, so that they give the same results."""
