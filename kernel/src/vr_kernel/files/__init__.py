"""Files of the user and of the program: what may be read, how it is found, what is kept."""
