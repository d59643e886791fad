"""The composition of the access to language models."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from vr_kernel.config.model_settings import ModelConfiguration
from vr_kernel.exports import deferred
from vr_kernel.models.models import LanguageModels
from vr_kernel.models.usage import Meter

if TYPE_CHECKING:
    from vr_kernel.composition.foundation import Foundation
    from vr_kernel.models.recorder import UsageRecorder
    from vr_kernel.models.retry import Retrier
    from vr_kernel.models.roles import Roles
    from vr_kernel.spending.budget import Budget


def compose_models(
    base: Foundation, configuration: ModelConfiguration, *, handed: bool
) -> LanguageModels:
    """Make the models from the services that they need.

    Args:
        base: has the ledger, the journal, the providers and the log.
        configuration: of models.
        handed: as of `Kernel`.
    """

    def roles() -> Roles:
        from vr_kernel.models.consent import Consent
        from vr_kernel.models.roles import Roles

        consent = Consent(configuration, base.providers, base.config, handed=handed)
        return Roles(configuration, base.providers, consent)

    def budget() -> Budget:
        from vr_kernel.spending.budget import Budget

        return Budget(lambda: configuration.current, base.usage)

    def retrier() -> Retrier:
        from vr_kernel.models.retry import Retrier, RetryPolicy

        return Retrier(lambda: RetryPolicy.of(configuration.current))

    def recorder() -> UsageRecorder:
        from vr_kernel.models.recorder import UsageRecorder

        meter = Meter(call_id="", tool="", plugin="", principal=base.identity.principal)
        limit = asyncio.Semaphore(base.config.models.concurrency)
        return UsageRecorder(
            *(base.usage, meter, limit, base.journal),
            budget=deferred(budget),
            room_of=base.room_of,
            told=base.request_listeners,
        )

    return LanguageModels(
        configuration=configuration,
        roles=deferred(roles),
        retrier=deferred(retrier),
        recorder=deferred(recorder),
        artifacts=base.artifacts,
        digests=base.digests,
        log=base.log,
    )
