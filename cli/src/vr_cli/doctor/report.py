"""One run of `vr doctor`: reads the configuration, loads the plugins, gathers the checks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from vr_kernel import Check, Config, Diagnosis, VrError, load_config
from vr_kernel.config import PROJECT_FILE, KernelSettings, env_files, find_paths
from vr_kernel.loading import explain
from vr_kernel.text import redactor, secrets_in_text, secrets_of

from vr_cli.doctor.check_runner import Result, examine, loop_aside, wait_for
from vr_cli.doctor.configuration import configuration_checks
from vr_cli.doctor.databases import database_checks
from vr_cli.doctor.environment import environment_checks
from vr_cli.doctor.folders import folder_checks
from vr_cli.doctor.models import model_checks
from vr_cli.doctor.plugins import ExaminedKernel, offered_checks, plugin_checks
from vr_cli.doctor.providers import provider_checks
from vr_cli.doctor.transport import Handshake, http_checks

Grouped = list[tuple[str, Check]]
CLOSE_S = 2.0


class Consultation:
    """An installation, opened to be looked at once; `close` lets go of what is left.

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
        self._paths = find_paths(environ)
        self._config = self._read()
        self._kernel: ExaminedKernel | None = None
        self._printed = self._unloaded = ""
        if isinstance(self._config, Config):
            self._load(self._config)

    def results(self) -> list[Result]:
        """What all checks found."""
        grouped = [*self._always(), *self._loaded()]
        with loop_aside() as loop:
            found = examine(grouped, loop, redactor(self._secrets()))
            if self._kernel is not None:
                with suppress(Exception):  # what plugins leave behind must not cost the report
                    wait_for(loop, self._kernel.aclose(), CLOSE_S)
        return found

    def close(self) -> None:
        """End the server, if it is still there."""
        if isinstance(self._handshake, Handshake):
            self._handshake.close()

    def _read(self) -> Config | VrError:
        try:
            # A strict kernel ends at the first bad plugin, but all are to be named.
            flags = {**self._flags, "kernel.strict": "false", "kernel.log_level": "error"}
            return load_config(self._environ, flags, self._folder)
        except VrError as error:
            return error

    def _load(self, config: Config) -> None:
        with captured(1) as printed:
            try:
                self._kernel = ExaminedKernel(config, roots=[self._folder])
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                self._unloaded = explain(error)
        self._printed = printed()

    def _always(self) -> Grouped:
        config, paths = self._config, self._paths
        if isinstance(config, Config):
            lease_s, store = config.kernel.lease_s, config.store.backend
        else:
            lease_s, store = KernelSettings().lease_s, "embedded"
        settings = configuration_checks(paths, self._environ, self._folder, config)
        return [
            *_grouped("environment", environment_checks(paths)),
            *_grouped("configuration", settings),
            *_grouped("folders", folder_checks(paths)),
            *_grouped("databases", database_checks(paths, lease_s, store)),
            *_grouped("server", [*self._served(), *http_checks(config)]),
        ]

    def _served(self) -> list[Check]:
        if not isinstance(self._config, Config):
            why, fix = "the settings are not valid", "Correct the settings, then run it again."
        elif isinstance(self._handshake, Handshake):
            return self._handshake.checks()
        else:
            why = self._handshake.strerror or explain(self._handshake)
            fix = "Free some space where temporary files are kept, or set TMPDIR to another folder."
        return [Check("server", partial(Diagnosis.warning, f"Not tried: {why}.", fix))]

    def _loaded(self) -> Grouped:
        kernel = self._kernel
        if kernel is None:
            return _grouped("plugins", [Check("plugins", partial(_not_loaded, self._unloaded))])
        return [
            *_grouped("plugins", plugin_checks(kernel, self._printed)),
            *_grouped("providers", provider_checks(kernel.providers)),
            *_grouped("models", model_checks(kernel.models.roles)),
            *offered_checks(kernel),
        ]

    def _secrets(self) -> list[str]:
        sections = list(self._kernel.settings.values()) if self._kernel else []
        if isinstance(self._config, Config):
            sections += [self._config.models, self._config.serve]
        found = secrets_of({**self._environ, **self._flags}, sections)
        files = [*env_files(self._environ, self._paths.config), self._folder / PROJECT_FILE]
        for file in [*files, self._paths.config / "config.toml"]:
            with suppress(OSError):
                found += secrets_in_text(file.read_text("utf-8", errors="replace"))
        return found


@contextmanager
def captured(descriptor: int) -> Iterator[Callable[[], str]]:
    """For a time, keep what anybody writes to 1 or 2; the function then returns it."""
    with _scratch() as file:
        sys.stdout.flush()
        sys.stderr.flush()
        kept = os.dup(descriptor)
        os.dup2(file.fileno(), descriptor)
        text: list[str] = []
        try:
            yield lambda: "".join(text)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.dup2(kept, descriptor)
            os.close(kept)
            file.seek(0)
            text.append(file.read().decode("utf-8", "replace"))


def _scratch() -> IO[bytes]:
    try:
        return TemporaryFile()
    except OSError:  # no room: what is written meanwhile is lost
        return Path(os.devnull).open("r+b")


def _begun(options: Sequence[str], environ: Mapping[str, str]) -> Handshake | OSError:
    try:
        return Handshake(options, environ)
    except OSError as error:
        return error


def _grouped(group: str, checks: Sequence[Check]) -> Grouped:
    return [(group, check) for check in checks]


def _not_loaded(reason: str) -> Diagnosis:
    if reason:
        return Diagnosis.fault(f"No plugin can be loaded: {reason}", "Report it with this line.")
    what = "Not examined, nor models, stores and what plugins say: the settings are not valid."
    return Diagnosis.warning(what, "Correct the settings, then run it again.")
