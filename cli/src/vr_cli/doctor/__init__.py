"""`vr doctor`: what this installation looks like, and how to mend what is wrong with it.

Every check only looks: no network, nothing paid, nothing written but probe files that are
removed again.
"""
