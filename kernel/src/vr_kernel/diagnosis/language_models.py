"""The check of the models that `[models]` names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import get_args

from vr_kernel.config.model_settings import AUTO, GEMINI, ModelsSettings
from vr_kernel.errors import VrError, did_you_mean
from vr_kernel.generation import Role
from vr_kernel.health import Diagnosis
from vr_kernel.models.roles import Roles


def known_models(roles: Roles) -> Diagnosis:
    """Check that every configured model has a provider, and is one that it knows."""
    count = 0
    for setting, name in _configured(roles.configuration.current):
        count += 1
        fix = f"Correct {setting} in [models]."
        try:
            model = roles.meant(name)
        except VrError as error:
            return Diagnosis.fault(f"{setting}: {error.message}", error.hint or fix)
        known = [] if model is None else [info.name for info in model.provider.models()]
        if model is None or model.id in known:
            continue
        # A service of the user's own may have any model; of others a name that is near is meant.
        meant = did_you_mean(model.id, known)
        if meant or model.provider.name == GEMINI:
            what = f"{setting}: {model.provider.name} knows no model {model.id!r}."
            return Diagnosis.warning(what, f"{meant}{fix} One newer than this release may work.")
    if not count:
        return Diagnosis.ok(f"Those of the preset {roles.configuration.current.preset!r}.")
    return Diagnosis.ok(f"Configured: {count}, all known.")


def agreed_providers(roles: Roles) -> Diagnosis:
    """Check for keys that were found in the environment, and are not used without agreement."""
    found = [name for name in roles.providers if roles.consent.of(name).variables]
    if found:
        told = [f"{name} ({', '.join(roles.consent.of(name).variables)})" for name in found]
        return Diagnosis.warning(
            f"Found in the environment and not used: {'; '.join(told)}.",
            f"`vr init` asks about each and keeps the answer; or set agreed = {found} in [models].",
        )
    settings = roles.configuration.current
    for setting in ("agreed", "declined"):
        for name in getattr(settings, setting):
            if name not in roles.providers:
                hint = f"{did_you_mean(name, roles.providers)}Correct {setting} in [models]."
                return Diagnosis.warning(f"{setting}: no provider {name!r} is installed.", hint)
    used = roles.consent.usable(roles.hierarchy)
    if not used:
        return Diagnosis.ok("None is configured.")
    return Diagnosis.ok(f"Used: {', '.join(used)}.")


def usable_addresses(roles: Roles) -> Diagnosis:
    """Check that no provider is left out because of its address."""
    problems = list(_problems(roles))
    if not problems:
        return Diagnosis.ok("None is refused.")
    return Diagnosis.warning(
        " ".join(problem.message for problem in problems),
        " ".join(dict.fromkeys(problem.hint for problem in problems)),
    )


def _problems(roles: Roles) -> Iterator[VrError]:
    for name in roles.providers:
        with suppress(VrError):  # of a provider that fails its log says why
            if problem := roles.consent.access(name).problem:
                yield problem


def _configured(settings: ModelsSettings) -> Iterator[tuple[str, str]]:
    for role in get_args(Role):
        for name in getattr(settings, role):
            if name != AUTO:
                yield role, name
    for setting in ("gemini_model", "gemini_flash_model"):
        if name := getattr(settings, setting).strip():
            yield setting, f"{GEMINI}/{name.removeprefix('models/').removeprefix('gemini/')}"
