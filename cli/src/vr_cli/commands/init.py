"""`vr init`: sets up MCP clients, folders, the key, models; shows every change first."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from vr_kernel import VrError

from vr_cli.commands.init_fetching import choose_remedies, fetch_all, words_of
from vr_cli.commands.init_models import (
    ask_models,
    found_models,
    models_of_options,
    unused_models,
    working_lines,
)
from vr_cli.commands.init_questions import ask_clients, ask_folders, is_terminal
from vr_cli.commands.init_view import narrowed_view
from vr_cli.folding import folded
from vr_cli.output import print_error, print_json, print_notes
from vr_cli.process.exits import Exit, exit_code

if TYPE_CHECKING:
    from vr_kernel import Config, Remedy

    from vr_cli.onboarding.changes import Change
    from vr_cli.onboarding.clients import Machine
    from vr_cli.onboarding.model_choice import FoundModels, ModelChoice
    from vr_cli.onboarding.plan import Plan
    from vr_cli.onboarding.wishes import Wishes
    from vr_cli.onboarding.writing import Written

NOTHING_GIVEN = (
    "Nobody can be asked here. Nothing is agreed to. Name what to set up: --client NAME,"
    " --folder DIR, --key-from-env, --key-from-stdin, --use SERVICE or --fetch, with --yes or"
    " --dry-run."
)
RESTART = {
    True: "Restart the clients to see the tools.",
    False: "Servers that run read this when they start again.",
}
"""Advice after something was written, by whether a client's file was."""


@click.command()
@click.option(
    "--client",
    "clients",
    multiple=True,
    metavar="NAME",
    help="claude-code, claude-desktop, cursor, vscode, gemini-cli, windsurf, codex, or all found.",
)
@click.option("--folder", "folders", multiple=True, metavar="DIR", help="Let the server read it.")
@click.option("--key-from-env", is_flag=True, help="Keep the key of the variable GEMINI_API_KEY.")
@click.option("--key-from-stdin", is_flag=True, help="Keep the key that stdin holds.")
@click.option("--service", metavar="NAME", help="The service of that key, such as groq.")
@click.option(
    "--use",
    "services",
    multiple=True,
    metavar="SERVICE",
    help="Use a key found in the environment (groq), or a local server (ollama, ollama/MODEL).",
)
@click.option(
    "--decline",
    "declined",
    multiple=True,
    metavar="SERVICE",
    help="Leave a key in the environment, or a local server, unused; it is not asked about again.",
)
@click.option("--fetch", is_flag=True, help="Fetch what plugins lack, such as a speech model.")
@click.option("--project", is_flag=True, help="Write the clients' files of the current folder.")
@click.option("--remove", is_flag=True, help="Take our entry out of the clients' files instead.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option("--yes", is_flag=True, help="Ask nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def init(
    config: Config,
    /,
    *,
    clients: tuple[str, ...],
    folders: tuple[str, ...],
    fetch: bool,
    project: bool,
    remove: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    **about_models: Any,
) -> int:
    """Connect MCP clients to this server: asks four questions, or takes the answers from options.

    Of models it asks about keys found in the environment and servers on this machine; where there
    are none, for a key. Nobody is asked twice, and a key that was not agreed to is never used.

    Every change is shown, and you are asked once, before anything is written. Secrets stay hidden;
    keys are written to your own .env alone, never to a client's file.
    """
    from vr_cli.onboarding.answers import overruled

    others = bool(folders or fetch or any(about_models.values()))
    asked = not (clients or others or remove)
    if remove:
        wishes = _removal(clients, others, project=project)
    elif asked:
        wishes = _asked(project=project, yes=yes)
    else:
        wishes = _given(clients, folders, models_of_options(**about_models), project=project)
    remedies = choose_remedies("4. " * asked, yes=yes or dry_run) if fetch or asked else []
    plan = _planned(config, wishes)
    pending = [change for change in plan.changes if change.action != "none"]
    writing = bool(pending) and not dry_run
    if not as_json or (writing and not yes):
        click.echo(_differences(plan.changes, remedies, remove=remove), err=as_json)
    for error in plan.refused:
        print_error(error)
    written: Sequence[Written] = []
    notes: list[str] = []
    agreed = writing and (yes or _agreed())
    if agreed:
        written, unwritten = _write(pending)
        plan = replace(plan, refused=[*plan.refused, *unwritten])
        notes = overruled(os.environ, wishes.folders, wishes.models) if not unwritten else []
    models = None
    if not (remove or dry_run) and (agreed or not pending):
        models = found_models()
        notes += [] if asked else unused_models(models)
        notes += narrowed_view(config) if wishes.clients else []
    if not as_json:
        _conclude(written, notes, models, wishes)
    fetched = {} if dry_run else fetch_all(remedies)
    if as_json:
        codes = [{"command": it, "exit_code": fetched.get(it)} for it in map(words_of, remedies)]
        print_json({**_report(plan, written, notes, models), "fetched": codes})
    return max([*map(exit_code, plan.refused), *fetched.values()], default=Exit.OK)


def _machine() -> Machine:
    from vr_cli.onboarding.answers import home_folder
    from vr_cli.onboarding.clients import Machine

    return Machine(sys.platform, home_folder(os.environ), os.environ)


def _asked(*, project: bool, yes: bool) -> Wishes:
    """Ask on a terminal.

    Raises:
        click.UsageError: when nobody can answer; what was found is told before.
    """
    from vr_cli.onboarding.clients import installed_clients

    if yes or not is_terminal():
        print_notes(unused_models(found_models()))
        raise click.UsageError(NOTHING_GIVEN)
    machine = _machine()
    found = [it.name for it in installed_clients(machine) if it.project or not project]
    folders = ask_folders(Path(machine.home))
    models = ask_models(found_models())
    names = ask_clients(found, machine)
    return _given(names, [str(folder) for folder in folders], models, project=project)


def _removal(names: Sequence[str], others: object, *, project: bool) -> Wishes:
    from vr_cli.onboarding.model_choice import ModelChoice

    if others:
        raise click.UsageError("--remove is about clients alone: name those, or none for all.")
    return replace(_given(names or ("all",), (), ModelChoice(), project=project), remove=True)


def _given(
    names: Sequence[str], folders: Sequence[str], models: ModelChoice, *, project: bool
) -> Wishes:
    from vr_cli.onboarding.answers import allowed_folder
    from vr_cli.onboarding.clients import choose_clients
    from vr_cli.onboarding.wishes import Wishes

    machine = _machine()
    here = Path.cwd() if project else None
    clients = choose_clients(names, machine, project=project)
    return Wishes(
        clients=[(client, client.place(machine, here)) for client in clients],
        folders=[allowed_folder(text, Path(machine.home)) for text in folders],
        models=models,
    )


def _planned(config: Config, wishes: Wishes) -> Plan:
    from vr_cli.onboarding.answers import set_by_files
    from vr_cli.onboarding.launch import find_launch
    from vr_cli.onboarding.plan import plan_changes

    launch = find_launch(sys.argv[0], sys.executable, sys.prefix, os.environ)
    folder = config.paths.config
    return plan_changes(wishes, launch, folder, set_by_files(os.environ, folder))


def _agreed() -> bool:
    """Ask on a terminal.

    Raises:
        click.UsageError: when nobody can answer.
    """
    if not is_terminal():
        raise click.UsageError("Nobody can be asked here. Add --yes, or --dry-run to only look.")
    return click.confirm("Write this?", default=True, err=True)


def _write(changes: Sequence[Change]) -> tuple[list[Written], list[VrError]]:
    """Write each file; print and return the errors of those that are left as they were."""
    from vr_cli.onboarding.writing import write_file

    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    written, failed = [], []
    for change in changes:
        try:
            written.append(write_file(change, stamp))
        except VrError as error:
            print_error(error)
            failed.append(error)
    return written, failed


def _differences(changes: Sequence[Change], remedies: Sequence[Remedy], *, remove: bool) -> str:
    same = "There is no entry of ours in it." if remove else "Already up to date."
    lines: list[str] = []
    for change in changes:
        lines.append(f"{change.title}: {change.file}")
        lines.append(change.difference() or same)
        lines.append("")
    lines += [f"to run: {words_of(each)}" for each in remedies]
    return "\n".join(lines) if lines else "Nothing was chosen."


def _conclude(
    written: Sequence[Written], notes: Sequence[str], models: FoundModels | None, wishes: Wishes
) -> None:
    for it in written:
        kept = f"; what it held is in {it.backup}" if it.backup else ""
        click.echo(f"Wrote {it.file}{kept}.")
    print_notes(notes)
    if written and wishes.remove:
        click.echo("Restart the clients. Allowed folders, the key and all records stay.")
    elif written:
        text = "`vr doctor --problems` says what is missing; `vr init --fetch` fetches models."
        click.echo("\n".join(folded("", f"{RESTART[bool(wishes.clients)]} {text}", sys.stdout)))
    for line in working_lines(models) if models else ():
        click.echo(line)


def _report(
    plan: Plan, written: Sequence[Written], notes: Sequence[str], models: FoundModels | None
) -> dict[str, Any]:
    backups = {it.file: str(it.backup) if it.backup else None for it in written}
    items = [
        {
            "what": change.title,
            "file": str(change.file),
            "action": change.action,
            "difference": change.difference(),
            "backup": backups.get(change.file),
        }
        for change in plan.changes
    ]
    refused = [{"message": error.message, "hint": error.hint} for error in plan.refused]
    return {
        "changes": items,
        "refused": refused,
        "written": bool(written),
        "notes": list(notes),
        "models": dict(models.working) if models else {},
    }
