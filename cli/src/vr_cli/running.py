"""Runs a command line: every error is printed, and becomes an exit code."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile

import click
from vr_kernel import Code, VrError

from vr_cli.process.exits import Exit, exit_code

PROGRAM = "vr"
COMPLETING = "_VR_COMPLETE"
"""The variable that a shell sets when it asks for words to complete; click answers it."""


def run_command(command: click.Command, arguments: Sequence[str]) -> int:
    """Run the root command with arguments and return the exit code; no error is raised."""
    if COMPLETING in os.environ:
        with suppress(VrError, click.ClickException):  # nothing to complete
            command.main(list(arguments), prog_name=PROGRAM, standalone_mode=False)
        return Exit.FAILURE
    try:
        result = command.main(list(arguments), prog_name=PROGRAM, standalone_mode=False)
    except VrError as error:
        from vr_cli.output import print_error

        print_error(error, as_json=_wants_json(arguments))
        return exit_code(error)
    except click.ClickException as error:
        error.show()
        if _wants_json(arguments):
            from vr_cli.output import print_error_json

            print_error_json(_misused(error))
        return Exit.USAGE
    except (click.Abort, KeyboardInterrupt) as stopped:
        if isinstance(stopped.__cause__, EOFError):
            # click takes any EOFError for the end of a prompt, even that of a damaged file.
            raise stopped.__cause__ from None
        click.echo("Interrupted.", err=True)
        return Exit.INTERRUPTED
    except OSError as error:
        if _is_gone(error):
            sys.stderr.close()
        elif error.errno == errno.ENOSPC and error.filename is None:
            click.echo("Error: The output could not be written: no space is left.", err=True)
            _forget_output()
        else:
            raise
        return Exit.FAILURE
    return result if isinstance(result, int) else Exit.OK


def _is_gone(error: OSError) -> bool:
    """Check for a reader that has left, or a terminal that was closed."""
    if isinstance(error, BrokenPipeError):
        return True
    with suppress(OSError):
        closed = stat.S_ISCHR(os.fstat(1).st_mode) and not os.isatty(1)
        return error.errno == errno.EIO and closed
    return False


def _forget_output() -> None:
    """Send what is still held for stdout nowhere, or Python reports it once more at the end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _wants_json(arguments: Sequence[str]) -> bool:
    return "--json" in takewhile(lambda word: word != "--", arguments)


def _misused(error: click.ClickException) -> VrError:
    """The error of a wrong command line, in the form of other failures."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else PROGRAM
    return VrError(
        error.format_message(),
        Code.INVALID_INPUT,
        category="USAGE",
        hint=f"`{command} --help` says what it takes.",
    )
