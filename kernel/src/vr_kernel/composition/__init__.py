"""What a kernel is made of: services of one configuration, and those of each workspace."""
