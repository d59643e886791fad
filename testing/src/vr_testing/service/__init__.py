"""The machine of every fake service: HTTP over a real socket, a script, faults, a bill."""
