"""Foreign data in, own data out."""
