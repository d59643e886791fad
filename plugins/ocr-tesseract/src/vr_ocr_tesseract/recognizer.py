"""The provider: one run of the program per picture."""

from __future__ import annotations

import asyncio
import os
import shutil
from asyncio.subprocess import PIPE, Process

from vr_kernel import Code, TextLine, VrError

from vr_ocr_tesseract.pictures import check_picture, unreadable
from vr_ocr_tesseract.settings import TesseractSettings
from vr_ocr_tesseract.words import parse_table


class TesseractRecognizer:
    """An installed Tesseract, run once per picture; it needs little memory and time."""

    name = "tesseract"

    def __init__(self, settings: TesseractSettings) -> None:
        self._settings = settings
        self._slots = asyncio.Semaphore(settings.processes)

    async def recognize(self, image: bytes) -> list[TextLine]:
        """Lines of a PNG or JPEG, from top to bottom.

        Raises:
            VrError: INVALID_INPUT for bytes that are no such picture, TOO_LARGE for too many
                pixels, UNAVAILABLE when the program or its language data is missing, or when
                it takes too long.
        """
        check_picture(image)
        program = shutil.which(self._settings.program)
        if program is None:
            raise _missing_program(self._settings.program)
        async with self._slots:
            table = await self._run(program, image)
        return parse_table(table, self._settings.minimum_confidence)

    async def _run(self, program: str, image: bytes) -> str:
        settings = self._settings
        process = await self._start(program)
        try:
            async with asyncio.timeout(settings.timeout_s):
                output, complaints = await process.communicate(image)
        except TimeoutError:
            raise _too_slow(settings.timeout_s) from None
        finally:
            await _stop(process)
        if process.returncode:
            raise _failure(complaints.decode(errors="replace"), settings.languages)
        return output.decode("utf-8", "replace")

    async def _start(self, program: str) -> Process:
        languages, layout = self._settings.languages, str(self._settings.layout)
        try:
            return await asyncio.create_subprocess_exec(
                *(program, "stdin", "stdout", "-l", languages, "--psm", layout, "tsv"),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                # On a busy machine its threads wait for each other: 34 seconds instead of 0.3.
                env={**os.environ, "OMP_THREAD_LIMIT": "1"},
            )
        except OSError as error:
            raise _missing_program(program) from error


async def _stop(process: Process) -> None:
    if process.returncode is None:
        process.kill()
        await process.wait()


def _missing_program(program: str) -> VrError:
    return VrError(
        f"The program {program!r} is not installed, or cannot be started.",
        Code.UNAVAILABLE,
        category="PROGRAM_MISSING",
        hint="Install it: apt install tesseract-ocr, brew install tesseract, or choco install"
        " tesseract. If it is not on the PATH, set program in [plugins.ocr-tesseract].",
    )


def _too_slow(seconds: float) -> VrError:
    return VrError(
        f"Tesseract took longer than {seconds:g} seconds for one picture.",
        Code.UNAVAILABLE,
        category="TIMEOUT",
        hint="Try again when the machine is less busy, or raise timeout_s in"
        " [plugins.ocr-tesseract].",
        retryable=True,
    )


def _failure(complaints: str, languages: str) -> VrError:
    if "loading language" not in complaints:
        return unreadable()
    return VrError(
        f"Tesseract has no data for {languages!r}.",
        Code.UNAVAILABLE,
        category="LANGUAGE_MISSING",
        hint="`tesseract --list-langs` shows what is there; on Debian and Ubuntu"
        " `apt install tesseract-ocr-deu` adds German.",
    )
