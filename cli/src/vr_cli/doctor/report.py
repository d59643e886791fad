"""The report of `vr doctor`: reads the configuration, loads the plugins, runs all checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from vr_kernel import Check, Config, Diagnosis, Kernel, VrError, load_config
from vr_kernel.diagnosis import kernel_checks, report_redactor
from vr_kernel.loading import explain

from vr_cli.commands.serve import INSTALL_SERVER, has_server
from vr_cli.doctor.captured import captured
from vr_cli.doctor.check_runner import Result, loop_aside, run_checks, wait_for
from vr_cli.doctor.environment import environment_checks
from vr_cli.doctor.plugins import offered_checks, plugin_checks
from vr_cli.doctor.shown_tools import shown_checks
from vr_cli.doctor.transport import Handshake, http_checks
from vr_cli.doctor.unread_variables import unread_checks

Grouped = list[tuple[str, Check]]
BEGIN_S = 10.0
"""Seconds that plugins may take to begin, beside those of the lifespan of each."""
CLOSE_S = 2.0
"""Seconds that a plugin may take to end."""
TOPICS = (
    *("environment", "configuration", "folders", "databases", "server"),
    *("plugins", "providers", "models"),
)
"""Groups in the order in which they are shown; those of plugins come last."""


class DoctorReport:
    """The checks of one installation, to be run once; `close` ends the server process.

    Args:
        settings: `section.key=value`, as given with `--set`.
        environ: the environment of this run.
        folder: the working folder.
    """

    def __init__(self, settings: Sequence[str], environ: Mapping[str, str], folder: Path) -> None:
        options = [part for setting in settings for part in ("--set", setting)]
        self._handshake = _begun(options, environ)
        self._flags = dict(setting.partition("=")[::2] for setting in settings)
        self._environ, self._folder = environ, folder
        self._config = self._read()
        self._kernel: Kernel | None = None
        self._printed = self._unloaded = ""
        if isinstance(self._config, Config):
            self._load(self._config)

    def results(self) -> list[Result]:
        """Run all checks and return what they found."""
        given = {**self._environ, **self._flags}
        redact = report_redactor(given, self._folder, self._config, self._kernel)
        with loop_aside() as loop:
            if self._kernel is not None and self._kernel.has_lifespans:
                with captured(1), suppress(Exception):  # the states of plugins tell what failed
                    wait_for(loop, self._kernel.begin(), BEGIN_S + self._begin_s(self._kernel))
            found = run_checks(self._checks(), loop, redact)
            if self._kernel is None:
                return found
            with suppress(Exception):  # plugins' leftover tasks must not cost the report
                wait_for(loop, self._kernel.aclose(), CLOSE_S * len(self._kernel.plugins()))
            states = _grouped("plugins", plugin_checks(self._kernel, self._printed))
            ended = {it.name: it for it in run_checks(states, loop, redact)}
        return [ended.get(it.name, it) if it.group == "plugins" else it for it in found]

    def close(self) -> None:
        """End the server, if it is still there."""
        if isinstance(self._handshake, Handshake):
            self._handshake.close()

    def _read(self) -> Config | VrError:
        try:
            # A strict kernel ends at the first bad plugin, but the report names them all.
            flags = {**self._flags, "kernel.strict": "false", "kernel.log_level": "error"}
            return load_config(self._environ, flags, self._folder)
        except VrError as error:
            return error

    def _begin_s(self, kernel: Kernel) -> float:
        assert isinstance(self._config, Config)
        return len(kernel.plugins()) * self._config.kernel.import_deadline_s

    def _load(self, config: Config) -> None:
        with captured(1) as printed:
            try:
                self._kernel = Kernel(config, roots=[self._folder], retry=True)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                self._unloaded = explain(error)
        self._printed = printed()

    def _checks(self) -> Grouped:
        kernel = self._kernel
        installed = [] if kernel is None else [plugin.name for plugin in kernel.plugins()]
        checks = [
            *_grouped("environment", environment_checks(self._environ)),
            *_grouped("configuration", unread_checks(self._environ, installed)),
            *kernel_checks(self._environ, self._folder, self._config, kernel),
            *_grouped("server", [*self._served(), *http_checks(self._config)]),
        ]
        if kernel is None:
            check = Check("plugins", partial(_not_loaded, self._unloaded))
            return _in_order([*checks, ("plugins", check)])
        checks += _grouped("server", shown_checks(kernel))
        checks += _grouped("plugins", plugin_checks(kernel, self._printed))
        return [*_in_order(checks), *offered_checks(kernel)]

    def _served(self) -> list[Check]:
        if self._handshake is None:
            why, fix = "vr-server is not installed", f"To serve: {INSTALL_SERVER}"
        elif not isinstance(self._config, Config):
            why, fix = "the settings are not valid", "Correct the settings, then run it again."
        elif isinstance(self._handshake, Handshake):
            return self._handshake.checks()
        else:
            why = self._handshake.strerror or explain(self._handshake)
            fix = "Free some space where temporary files are kept, or set TMPDIR to another folder."
        return [Check("server", partial(Diagnosis.warning, f"Not tried: {why}.", fix))]


def _begun(options: Sequence[str], environ: Mapping[str, str]) -> Handshake | OSError | None:
    if not has_server():
        return None
    try:
        return Handshake(options, environ)
    except OSError as error:
        return error


def _in_order(checks: Grouped) -> Grouped:
    return sorted(checks, key=lambda each: TOPICS.index(each[0]))


def _grouped(group: str, checks: Sequence[Check]) -> Grouped:
    return [(group, check) for check in checks]


def _not_loaded(reason: str) -> Diagnosis:
    if reason:
        return Diagnosis.fault(f"No plugin can be loaded: {reason}", "Report it with this line.")
    what = "Not examined, nor models, stores and what plugins say: the settings are not valid."
    return Diagnosis.warning(what, "Correct the settings, then run it again.")
