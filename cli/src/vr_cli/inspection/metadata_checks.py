"""Checks of the metadata of a distribution; none of its code runs for them."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from vr_kernel import VERSION, Diagnosis
from vr_kernel.loading import (
    KERNEL_DISTRIBUTION,
    Candidate,
    PluginState,
    PluginStatus,
    check,
    kernel_range,
    next_break,
)

from vr_cli.inspection.findings import Finding, or_ok
from vr_cli.inspection.subject import Metadata, Subject

LOWEST_PYTHON = "3.11"
_PROJECT, _KERNEL, _NAME = "project", "kernel range", "name"


def check_metadata(metadata: Metadata) -> Iterator[Finding]:
    """Check description, readme, licence and Python; then the kernel versions that it allows."""
    summary = f"{metadata.name} {metadata.version}, {metadata.licence}"
    yield from or_ok(_PROJECT, [*_identity(metadata), *_python(metadata)], summary)
    if "dependencies" in metadata.dynamic:
        yield (
            _KERNEL,
            Diagnosis.warning(
                "The dependencies are dynamic: only a build tells them.",
                "Install the project and check it by its name.",
            ),
        )
        return
    requirements = list(_requirements(metadata.requires))
    texts = ", ".join(str(r) for r in requirements if _is_kernel(r))
    yield from or_ok(_KERNEL, [*_kernel_range(requirements), *_pins(requirements)], texts)


def weigh(subject: Subject, others: Sequence[Candidate]) -> PluginStatus:
    """The status that the kernel gives the plugin by its metadata, next to these other plugins."""
    mine = subject.candidate()
    rest = [other for other in others if not subject.is_of(other.distribution)]
    checked = check([*rest, mine], wanted="*", disabled=(), kernel_version=VERSION)
    (status,) = [status for candidate, status in checked if candidate is mine]
    return status


def check_name(status: PluginStatus) -> Iterator[Finding]:
    """Check that the plugin may have its name, and is the first in line for it."""
    if status.state is PluginState.CONFLICT:
        message = f"{status.reason[:1].upper()}{status.reason[1:]}."
        yield (_NAME, Diagnosis.fault(message, "Choose another name for the entry point."))
    elif canonicalize_name(status.distribution) not in _rightful(status.name):
        yield (
            _NAME,
            Diagnosis.warning(
                f"The name {status.name} belongs first to a distribution vr-plugin-{status.name}.",
                f"Name the distribution vr-plugin-{status.name}, or the entry point like it.",
            ),
        )
    else:
        yield (_NAME, Diagnosis.ok(status.name))


def _rightful(name: str) -> set[str]:
    return {canonicalize_name(f"vr-plugin-{name}"), canonicalize_name(f"vr-{name}")}


def _identity(metadata: Metadata) -> Iterator[Finding]:
    told = {"description": metadata.summary, "readme": metadata.readme, "license": metadata.licence}
    for key, value in told.items():
        if not value and key not in metadata.dynamic:
            yield (_PROJECT, Diagnosis.warning(f"It has no {key}.", f"Add {key} to [project]."))


def _python(metadata: Metadata) -> Iterator[Finding]:
    if "requires-python" in metadata.dynamic:
        return
    fix = f'Add requires-python = ">={LOWEST_PYTHON}" to [project].'
    try:
        wanted = SpecifierSet(metadata.requires_python)
    except InvalidSpecifier:
        yield (_PROJECT, Diagnosis.fault(f"requires-python is {metadata.requires_python!r}.", fix))
        return
    if not metadata.requires_python:
        yield (_PROJECT, Diagnosis.warning("It does not say which Python it needs.", fix))
    elif not wanted.contains(platform.python_version(), prereleases=True):
        yield (
            _PROJECT,
            Diagnosis.fault(f"It needs Python {wanted}, this is {platform.python_version()}.", fix),
        )


def _requirements(texts: Iterable[str]) -> Iterator[Requirement]:
    for text in texts:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue  # the build tool gives a better error
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement


def _kernel_range(requirements: Sequence[Requirement]) -> Iterator[Finding]:
    fix = f'Add "{KERNEL_DISTRIBUTION}{kernel_range(VERSION)}" to dependencies in [project].'
    kernels = [requirement for requirement in requirements if _is_kernel(requirement)]
    if not kernels:
        yield (_KERNEL, Diagnosis.fault(f"It does not require {KERNEL_DISTRIBUTION}.", fix))
    for requirement in kernels:
        if not requirement.specifier.contains(VERSION, prereleases=True):
            yield (_KERNEL, Diagnosis.fault(f"It needs {requirement}, this is {VERSION}.", fix))
        elif requirement.specifier.contains(next_break(VERSION)):
            message = f"{requirement} takes kernels that may break it."
            yield (_KERNEL, Diagnosis.warning(message, f"Cap it: {kernel_range(VERSION)}."))


def _pins(requirements: Sequence[Requirement]) -> Iterator[Finding]:
    for requirement in requirements:
        if any(specifier.operator in ("==", "===") for specifier in requirement.specifier):
            yield (
                _KERNEL,
                Diagnosis.warning(
                    f"{requirement} pins one version.",
                    "Give a range: plugins share one environment.",
                ),
            )


def _is_kernel(requirement: Requirement) -> bool:
    return canonicalize_name(requirement.name) == KERNEL_DISTRIBUTION
