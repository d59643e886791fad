"""An analysis as one HTML file to read, search and watch along with."""
