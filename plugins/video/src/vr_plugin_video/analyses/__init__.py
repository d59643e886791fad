"""Analyses of videos: by the local engine or by a model, checked, merged and recorded."""
