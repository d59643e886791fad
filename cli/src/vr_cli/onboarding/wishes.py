"""Wishes of a user of `vr init`, from answers or options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vr_cli.onboarding.clients import Client
from vr_cli.onboarding.model_choice import ModelChoice


@dataclass(frozen=True, slots=True)
class Wishes:
    """Wishes of a user: clients with their files, folders that may be read, models and a key.

    With `remove` our entry is taken out of the clients' files instead.
    """

    clients: Sequence[tuple[Client, Path]] = ()
    folders: Sequence[Path] = ()
    models: ModelChoice = field(default_factory=ModelChoice)
    remove: bool = False
