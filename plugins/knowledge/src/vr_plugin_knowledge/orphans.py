"""Collections whose plugin is not installed: their records are kept, and reported."""

from __future__ import annotations

from vr_kernel import Check, Diagnosis, Services

NONE_YET = "Nothing is recorded yet."


async def read_kept(services: Services, workspace: str) -> list[str]:
    """Describe each such collection: its records, and the missing plugin."""
    installed = {plugin.name: str(plugin.state) for plugin in services.plugins()}
    told = []
    for each in await services.journal.undeclared(workspace, services.kinds):
        away = (n for n in each.plugins if n and installed.get(n) not in ("loaded", "degraded"))
        name = next(away, "")
        whose = f"plugin {name} is" if name else "their plugin is"
        lack = "loaded: vr doctor" if name in installed else "installed"
        told.append(f"{each.kind}: {each.count} kept, {whose} not {lack}")
    return told


def kept_check(services: Services) -> Check:
    """Check that each collection in the journal has its plugin."""

    async def look() -> Diagnosis:
        if not services.paths.journal.exists():
            return Diagnosis.ok(NONE_YET)
        if told := await read_kept(services, services.workspace):
            return Diagnosis.warning(
                "; ".join(told) + ".", "Install the plugin again, and they are found as before."
            )
        return Diagnosis.ok("Every collection has its plugin.")

    return Check("collections", look)
