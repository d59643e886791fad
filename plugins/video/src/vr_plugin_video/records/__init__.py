"""Records of the video domain: their kinds, and a look at what the journal has."""
