"""The second question of `vr init`: which models may be asked, and what works then."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import click
from vr_kernel import Code, VrError, visible_line

from vr_cli.commands.init_questions import KEY_PAGE, NONE, answer, say
from vr_cli.configuration import config_with
from vr_cli.folding import folded

if TYPE_CHECKING:
    from vr_kernel.models import ModelService

    from vr_cli.onboarding.model_choice import FoundModels, ModelChoice

GEMINI = "gemini"
INDENT = "   "
SHOWN = 4
"""Most models of a server, or of a use, that are named."""
_USES = {
    "answers": ("reads and answers", "nothing: summaries and answers need a model"),
    "pictures": ("sees pictures", "nothing: text in pictures is read all the same"),
    "films": ("watches films", f"this machine alone; Gemini can as well: {KEY_PAGE}"),
    "vectors": ("finds by meaning", "nothing: texts are found by keyword"),
}
"""Uses of models: how each is called, and what is told where nothing serves it."""


def ask_models(found: FoundModels) -> ModelChoice:
    """The choice of what was found; where nothing can be asked then, with a key."""
    from vr_cli.onboarding.model_choice import ModelChoice, settings_of

    known = f"Set up: {', '.join(found.usable)}." if found.usable else "None is set up."
    say(f"Models. {known}", "2. ")
    for remark in found.refused:
        say(visible_line(remark), INDENT)
    agreed = [each.name for each in found.unasked if _agrees(each)]
    models = {each.name: _chosen(each, found) for each in found.offered}
    declined = [each.name for each in found.unasked if each.name not in agreed]
    declined += [name for name, model in models.items() if not model]
    chosen: dict[str, str] = {}
    for each in found.offered:
        if model := models[each.name]:
            chosen |= settings_of(each, model)
    choice = ModelChoice(agreed, declined, chosen)
    if found.usable or agreed or chosen:
        return choice
    service = _service(found)
    return choice if service == NONE else _with_key(choice, service, found)


def models_of_options(
    *,
    services: Sequence[str],
    declined: Sequence[str],
    service: str | None,
    key_from_env: bool,
    key_from_stdin: bool,
) -> ModelChoice:
    """The choice that options name.

    Raises:
        click.UsageError: for options that do not go together.
        VrError: as `choice_of`; for a key that cannot be one.
    """
    from vr_cli.onboarding.answers import checked_key
    from vr_cli.onboarding.model_choice import ModelChoice, choice_of, service_named

    if key_from_env and key_from_stdin:
        raise click.UsageError("Give --key-from-env or --key-from-stdin, not both.")
    if service and not (key_from_env or key_from_stdin):
        raise click.UsageError("--service says whose key it is: add --key-from-stdin.")
    found = found_models() if services or declined or service else None
    choice = choice_of(services, declined, found) if found else ModelChoice()
    if not (key_from_env or key_from_stdin):
        return choice
    variable, title = choice.key_variable, "Gemini"
    if found and service:
        variable, title = service_named(service, found.keyed).variable, service
    text = os.environ.get(variable, "") if key_from_env else sys.stdin.readline()
    return replace(choice, key=checked_key(text, title), key_variable=variable)


def found_models() -> FoundModels:
    """The models found here by the settings as they are now; none where plugins cannot be read."""
    from vr_cli.onboarding.model_choice import FoundModels, find_models

    with suppress(Exception):  # `vr doctor` names what fails
        return find_models(config_with(click.get_current_context(), {"kernel.strict": "false"}))
    return FoundModels()


def unused_models(found: FoundModels) -> list[str]:
    """Remarks on keys, servers and addresses that are not used, with how to use them."""
    keys = [
        f"Found and not used: {', '.join(each.found)}."
        f" If meant for this program: `vr init --use {each.name} --yes`"
        for each in found.unasked
    ]
    servers = [
        f"{each.name} runs here with {_listed(found.servers[each.name])}."
        f" To use it: `vr init --use {each.name} --yes`"
        for each in found.offered
    ]
    return [*found.refused, *keys, *servers]


def _agrees(service: ModelService) -> bool:
    from vr_cli.onboarding.model_choice import place_of

    variables = " and ".join(service.found)
    place = f"Requests to {service.name} go to {place_of(service)}."
    say(f"{variables}: set here. {place} The answer is kept, the key is not.", INDENT)
    return click.confirm(f"Use {service.name}?", default=False, err=True)


def _chosen(service: ModelService, found: FoundModels) -> str:
    """The model of a running server; empty for none."""
    from vr_cli.onboarding.model_choice import model_named, place_of

    offered = found.servers[service.name]

    def parsed(text: str) -> str:
        return "" if text == NONE else model_named(text.strip(), service, offered)

    say(f"{service.name} runs at {place_of(service)} with {_listed(offered)}.", INDENT)
    return answer(f"Model of {service.name}, or {NONE}", parsed, default=offered[0])


def _service(found: FoundModels) -> str:
    """The service whose key the user has; Gemini where there is no other."""
    from vr_cli.onboarding.model_choice import service_named

    others = [each.name for each in found.keyed if each.name != GEMINI]
    watching = f"A Gemini key ({KEY_PAGE}) lets a model watch;"
    if not others:
        say(f"{watching} without one videos are watched locally.", INDENT)
        return GEMINI
    say(f"{watching} a key of another service lets it read what is said and shown:", INDENT)
    say(", ".join(others), INDENT)

    def parsed(text: str) -> str:
        return NONE if text == NONE else service_named(text.strip(), found.keyed).name

    return answer(f"Service, or {NONE}", parsed, default=GEMINI)


def _with_key(choice: ModelChoice, service: str, found: FoundModels) -> ModelChoice:
    """The choice with the key of a service that the user pastes, if one is pasted."""
    from vr_cli.onboarding.answers import checked_key

    def parsed(text: str) -> str:
        return checked_key(text, title) if text else ""

    title = GEMINI.title() if service == GEMINI else service
    variables = {each.name: each.variable for each in found.keyed}
    variable = variables.get(service, choice.key_variable)
    key = answer(f"{title} key (hidden)", parsed, hide=True)
    while key and not _is_taken(service, variable, key):
        key = answer(f"{title} key (hidden)", parsed, hide=True)
    return replace(choice, key=key, key_variable=variable)


def _is_taken(service: str, variable: str, key: str) -> bool:
    """Try a key, and say how that went; False when the service refused it."""
    from vr_cli.onboarding.model_choice import try_key

    flags = {"kernel.strict": "false", "kernel.log_level": "error"}
    environ = {**os.environ, variable: key}
    try:
        offered = try_key(service, config_with(click.get_current_context(), flags, environ))
    except VrError as error:
        refused = error.code is Code.AUTH
        told = "Not taken, try another" if refused else "Kept, though it could not be tried"
        say(f"{told}: {visible_line(error.message)}", INDENT)
        return not refused
    say(f"{service} takes it, and offers {offered} models.", INDENT)
    return True


def working_lines(found: FoundModels) -> Iterator[str]:
    """The lines that tell what works now, and the next command."""
    if not found.services:
        return
    yield "What works now:"
    for use, (title, lacking) in _USES.items():
        serving = _listed(found.working.get(use, ()))
        if use == "films" and not serving:
            serving = _without_watching(found.working)
        yield from folded(f"  {title:<18} ", serving or lacking, sys.stdout)
    yield "Prices and all providers: vr infra models"


def _without_watching(working: Mapping[str, Sequence[str]]) -> str:
    """The model that is shown pictures of a video, or told its words; empty for none."""
    for use, how in (("pictures", "by pictures and words"), ("answers", "by words alone")):
        if models := working.get(use):
            return f"{visible_line(models[0])}, {how}"
    return ""


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return visible_line(", ".join(names[:SHOWN]) + more)
