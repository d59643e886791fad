"""A third-party plugin that quotes its secrets wherever it speaks; installed for real processes."""

from __future__ import annotations

import os
from typing import Annotated, Any

from pydantic import BaseModel, Field, SecretStr, field_validator
from vr_kernel import CALLS_OUT, READ_ONLY, Call, Code, EnvAlias, Section, VrError, hookimpl, tool
from vr_kernel.generation import Text


class Deeper(BaseModel):
    """Settings within settings."""

    password: SecretStr = SecretStr("")


class LeakySettings(Section):
    """`[plugins.leaky]`."""

    api_key: Annotated[SecretStr, EnvAlias("LEAKY_API_KEY")] = SecretStr("")
    keys: Annotated[list[SecretStr], Field(default_factory=list)]
    deeper: Deeper = Deeper()
    strict_key: SecretStr = SecretStr("")
    service_url: str = ""

    @field_validator("strict_key")
    @classmethod
    def _quote_it(cls, value: SecretStr) -> SecretStr:
        if value.get_secret_value().startswith("bad"):
            raise ValueError(f"{value.get_secret_value()} is no key")
        return value


class Done(BaseModel):
    """Result of a leaky tool."""

    text: str


def _all(call: Call) -> str:
    own = call.settings
    keys = [own.api_key, *own.keys, own.deeper.password, own.strict_key]
    spoken = [key.get_secret_value() for key in keys]
    names = ("GEMINI_API_KEY", "VR_HTTP_TOKEN", "HTTPS_PROXY", "WEAVIATE_API_KEY")
    return " ".join([*spoken, *(os.environ.get(name, "") for name in names)])


@tool(effects=READ_ONLY)
async def leaky_raise(call: Call) -> Done:
    """Raise what quotes all secrets, and keep them in locals."""
    secrets = _all(call)
    try:
        return Done(text={"": ""}[secrets])
    except KeyError as error:
        raise ValueError(f"Refused: {secrets}") from error


@tool(effects=READ_ONLY)
async def leaky_refuse(call: Call) -> Done:
    """Refuse with a typed error that quotes all secrets."""
    raise VrError(f"Refused: {_all(call)}", Code.AUTH, hint=f"Check {_all(call)}.")


@tool(effects=READ_ONLY)
async def leaky_speak(call: Call) -> Done:
    """Say secrets in progress, remarks and the log, at every level."""
    call.progress(1, 2, f"Using {_all(call)}")
    call.note(f"Used {_all(call)}")
    for level in ("debug", "info", "warning", "error"):
        getattr(call.log, level)(f"using {_all(call)}", settings=call.settings, keys=[_all(call)])
    call.log.info("asked", url=f"https://me:{call.settings.api_key.get_secret_value()}@x.example/")
    return Done(text="spoken")


@tool(effects=READ_ONLY | CALLS_OUT, long=True)
async def leaky_ask(call: Call, text: str, url: Annotated[str, Field(max_length=500)] = "") -> Done:
    """Ask a model."""
    reply = await call.services.models.generate([Text(text)], role="fast")
    return Done(text=f"{len(url)} {reply.text}")


@tool(effects=READ_ONLY | CALLS_OUT)
async def leaky_fetch(call: Call, url: str) -> Done:
    """Fetch a page."""
    return Done(text=(await call.services.http.fetch(url)).text)


@hookimpl
def vr_settings() -> type[BaseModel]:
    """The settings."""
    return LeakySettings


@hookimpl
def vr_tools() -> list[Any]:
    """The tools."""
    return [leaky_raise, leaky_refuse, leaky_speak, leaky_ask, leaky_fetch]
