"""All checks of what the kernel keeps and uses, by topic."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import cast

from vr_kernel.config.config import Config
from vr_kernel.config.model_settings import GEMINI
from vr_kernel.config.paths import find_paths
from vr_kernel.config.settings import KernelSettings
from vr_kernel.diagnosis.configuration import configuration_checks, known_sections
from vr_kernel.diagnosis.databases import database_checks
from vr_kernel.diagnosis.folders import folder_checks
from vr_kernel.diagnosis.language_models import (
    agreed_providers,
    known_models,
    usable_addresses,
)
from vr_kernel.diagnosis.price_lists import recent_prices
from vr_kernel.diagnosis.provided import provider_checks
from vr_kernel.errors import VrError
from vr_kernel.health import Check
from vr_kernel.kernel import Kernel
from vr_kernel.loading import BUILT_IN, KERNEL_DISTRIBUTION
from vr_kernel.models.models import LanguageModels


def kernel_checks(
    environ: Mapping[str, str],
    folder: Path,
    read: Config | VrError,
    kernel: Kernel | None = None,
    clock: Callable[[], float] = time.time,
) -> list[tuple[str, Check]]:
    """The checks of an installation, each with its topic.

    Args:
        environ: the environment.
        folder: the working folder.
        read: the settings, or the error of reading them.
        kernel: made of those settings; without it providers and models are not looked at.
        clock: seconds since the epoch.
    """
    paths = find_paths(environ)
    if isinstance(read, Config):
        lease_s, store = read.kernel.lease_s, read.store.backend
    else:
        lease_s, store = KernelSettings().lease_s, "embedded"
    topics = {
        "configuration": configuration_checks(paths, environ, folder, read),
        "folders": folder_checks(paths),
        "databases": database_checks(paths, lease_s, store),
    }
    if kernel is not None:
        topics["providers"] = provider_checks(kernel.services.providers)
        roles = cast("LanguageModels", kernel.services.models).roles
        known = Check("models", lambda: known_models(roles))
        agreed = Check("model providers", lambda: agreed_providers(roles))
        usable = Check("model addresses", lambda: usable_addresses(roles))
        sections = read.sections if isinstance(read, Config) else []
        installed = [plugin.name for plugin in kernel.plugins()]
        topics["configuration"].append(
            Check("plugin settings", lambda: known_sections(sections, installed))
        )
        packages = {plugin.name: plugin.distribution for plugin in kernel.plugins()}
        packages |= dict.fromkeys(BUILT_IN, KERNEL_DISTRIBUTION)
        priced = Check("prices", partial(recent_prices, roles, packages, clock))
        topics["models"] = [*kernel.health[GEMINI](), known, agreed, usable, priced]
    return [(topic, check) for topic, checks in topics.items() for check in checks]
