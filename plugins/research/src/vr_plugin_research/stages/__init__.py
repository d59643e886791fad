"""The stages of research, ask to write: functions over a dossier."""
