"""HTML of views: blocks become elements, a view becomes a fragment or one file."""
