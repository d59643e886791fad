"""The parts of a kernel: services of one configuration, plugins, and services of each workspace."""
