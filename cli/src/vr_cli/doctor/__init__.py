"""`vr doctor`: finds what is wrong with this installation, and says how to mend it.

Every check only looks: no network, nothing paid, nothing written but probe files that are
removed again.
"""
