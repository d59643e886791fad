"""Checks of plugins: the state of each, the output they print, and the checks that they offer."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial

from vr_kernel import VERSION, Check, Diagnosis, Kernel
from vr_kernel.loading import BUILT_IN, PluginState, PluginStatus

from vr_cli.doctor.check_runner import failure, started

OFFER_S = 3.0
"""How long a plugin may take to name its checks."""
SHOWN = 120

_FIXES = {
    PluginState.INCOMPATIBLE: "Install a version of {distribution} that fits vr-kernel "
    f"{VERSION}: pip install -U {{distribution}} vr-kernel",
    PluginState.CONFLICT: "Remove one of the two, or turn this off:"
    " disabled = ['{name}'] in [kernel].",
    PluginState.BROKEN: "Fix what it says, or update it: pip install -U {distribution};"
    " or turn it off: disabled = ['{name}'] in [kernel].",
    PluginState.DEGRADED: "Fix what it says, or update it: pip install -U {distribution}",
}


def plugin_checks(kernel: Kernel, printed: str) -> list[Check]:
    """One check for each installed plugin; `printed` is what they wrote to stdout at loading."""
    statuses = [status for status in kernel.plugins() if status.name not in BUILT_IN]
    return [
        *(Check(status.name, partial(plugin_state, status)) for status in statuses),
        Check("standard output", lambda: quiet(printed)),
    ]


def plugin_state(status: PluginStatus) -> Diagnosis:
    """Check that a plugin is served in full, or say why it is not."""
    version = status.version or "no version"
    if status.fine:
        return Diagnosis.ok(f"{version}, {status.reason or status.state}.")
    distribution = status.distribution or status.name
    fix = _FIXES[status.state].format(name=status.name, distribution=distribution)
    return Diagnosis.fault(f"{version}, {status.state}: {status.reason}", fix)


def quiet(printed: str) -> Diagnosis:
    """Check that plugins leave stdout alone, which belongs to the protocol."""
    text = " ".join(printed.split())
    if not text:
        return Diagnosis.ok("No plugin writes to standard output while it is loaded.")
    return Diagnosis.warning(
        f"A plugin writes to standard output while it is loaded: {text[:SHOWN]!r}.",
        "It is kept away from clients. Report it to the plugin: it should use services.log.",
    )


def offered_checks(kernel: Kernel) -> list[tuple[str, Check]]:
    """The checks that plugins offer; a hook that fails becomes a check that says so.

    Checks of plugins that come with the kernel are among `kernel_checks`.
    """
    offers = {name: offer for name, offer in kernel.health.items() if name not in BUILT_IN}
    answers = {name: started(offer) for name, offer in offers.items()}
    return [(name, check) for name, it in answers.items() for check in _offered(name, it)]


def _offered(name: str, answer: Future[tuple[list[Check], float]]) -> list[Check]:
    try:
        return answer.result(OFFER_S)[0]
    except TimeoutError:
        what = f"vr_health took longer than {OFFER_S:g} s."
        failed = Diagnosis.fault(what, f"Report it to the plugin {name}.")
    except BaseException as error:  # noqa: BLE001 - raised by the plugin's hook
        failed = failure(error, name)
    return [Check("checks", lambda: failed)]
