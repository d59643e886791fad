"""One provider as it is configured: its address, key and models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from ipaddress import ip_address
from typing import Any, ClassVar
from urllib.parse import SplitResult, urlsplit

from vr_kernel import Code, ModelAccess, ModelInfo, Price, Role, Services, VectorInfo, VrError

from vr_plugin_models.catalogue.embedding_models import embedding_row
from vr_plugin_models.catalogue.known_models import info_of, price_of, rows_of
from vr_plugin_models.catalogue.provider_row import ProviderRow
from vr_plugin_models.catalogue.providers import TEMPLATES

MODELS = ("model", "fallback_model", "recursive_model", "vision_model", "embedding_model")
"""The settings that name models."""
SMALL: frozenset[Role] = frozenset({"fast", "recursive"})
NEAR = (".local", ".localhost", ".lan", ".internal", ".home.arpa")
"""Ends of names that are no public ones."""
CLOUD = ("-cloud", ":cloud")
"""Ends of the names of models that a server passes on. Source: Ollama's page "Cloud"."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1", "0.0.0.0"})  # noqa: S104 - Ollama's own spelling of "here"


@dataclass(frozen=True)
class Endpoint:
    """A provider's row of the table, and what the user configured of it."""

    row: ProviderRow
    services: Services
    templates: ClassVar = TEMPLATES

    def setting(self, name: str) -> Any:
        """A setting of this provider."""
        return getattr(self.services.settings, f"{self.row.name}_{name}")

    @property
    def key(self) -> str:
        """Its key; empty for none."""
        key: str = self.setting("api_key").get_secret_value().strip()
        return key

    @cached_property
    def address(self) -> str:
        """Its base URL, checked.

        Raises:
            VrError: INVALID_INPUT or NOT_ALLOWED for one that may not be asked.
        """
        given: str = self.setting("base_url").strip()
        if not given:
            return self.row.address
        address = given if "://" in given or not self.row.local else f"http://{given}"
        self._require_allowed(address)
        return address.rstrip("/")

    @property
    def is_here(self) -> bool:
        """True when requests end on this machine, or with a local host that the user named."""
        if self.row.local and _is_near(_host_of(self.address)):
            return True
        return self.row.may_be_here and _host_of(self.address) in LOOPBACK

    @property
    def http_options(self) -> dict[str, Any]:
        """Options of its HTTP client: no redirect leads elsewhere, nor a proxy away from here."""
        near = self.is_here or _host_of(self.address) in LOOPBACK
        return {"follow_redirects": False, "trust_env": not near}

    @property
    def loopback(self) -> str:
        """The address of its server on this very machine; empty for one that is elsewhere."""
        if not self.row.local:
            return ""
        try:
            return self.address if _host_of(self.address) in LOOPBACK else ""
        except VrError:
            return ""

    @property
    def is_configured(self) -> bool:
        """True when the user gave what it needs, as far as is known without asking it."""
        if not (self.row.model or any(self.setting(kind) for kind in MODELS)):
            return False
        return bool(self.address and (self.key or self.row.keyless))

    def check(self) -> None:
        """Check that it can be used.

        Raises:
            VrError: AUTH without a key; UNAVAILABLE when it has no address.
        """
        title, name = self.row.title, self.row.name
        if self.row.variable and not self.key:
            where = f" Get one at {self.row.key_page}." if self.row.key_page else ""
            raise VrError(
                f"No key of {title} is configured.",
                Code.AUTH,
                category="API_PERMISSION_DENIED",
                hint=f"Set {name}_api_key in [plugins.models], or {self.row.variable}.{where}",
            )
        if not self.key.isascii() or not self.key.isprintable():
            raise VrError(
                f"The key of {title} holds characters that no key has.",
                Code.AUTH,
                category="API_PERMISSION_DENIED",
                hint=f"Copy it again: {name}_api_key in [plugins.models], or {self.row.variable}.",
            )
        if not self.address:
            raise VrError(
                f"No address of {title} is configured.",
                Code.UNAVAILABLE,
                category="MODEL_UNAVAILABLE",
                hint=f"Set {name}_base_url in [plugins.models], or {name.upper()}_BASE_URL.",
            )

    def access(self) -> ModelAccess:
        """The way to it."""
        try:
            address, here = self.address, self.is_here
        except VrError as error:
            return ModelAccess(variable=self.row.variable, ready=False, problem=error)
        own = f"{self.row.name}_base_url" if self.setting("base_url") else ""
        return ModelAccess(
            address=address,
            variable=self.row.variable,
            ready=self.is_configured,
            local=here,
            model_setting=f"{self.row.name}_model",
            address_setting=own,
        )

    def model_for(self, role: Role) -> str | None:
        """The model for a role; None when it has none, or is not configured."""
        if not self.is_configured:
            return None
        if role == "embedding":
            return self.setting("embedding_model") or self.row.embedding or None
        main = self.setting("model") or self.row.model
        if role == "vision":
            return self.setting("vision_model") or self._seeing(main)
        if role in SMALL:
            return self.setting("recursive_model") or self._small(main)
        return main or None

    def models_for(self, role: Role, model: str = "") -> Sequence[str]:
        """The models for a role, the best first, or those to ask after a model."""
        after = self.setting("fallback_model")
        first = model or self.model_for(role) or ""
        if not model and not after and not self.setting("model"):
            after = self.row.fallback
        usable = first and after and after != first and role != "embedding"
        return [first, after] if usable else [first] if first else []

    def presets(self, _role: Role) -> dict[str, str]:
        """The presets that are its models."""
        start = f"{self.row.name}/"
        return {
            preset: model.removeprefix(start)
            for preset, model in self.templates.items()
            if model.startswith(start)
        }

    def models(self) -> Sequence[ModelInfo]:
        """The models that are configured, in the table, or in the price list."""
        own = [self.setting(kind) for kind in MODELS]
        row = self.row
        own += [row.model, row.fallback, row.small, row.vision]
        own += [row.embedding, *self.presets("default").values(), *rows_of(row.name)]
        return [self.info(name) for name in dict.fromkeys(filter(None, own))]

    def info(self, model: str) -> ModelInfo:
        """Describe a model, as far as it is known."""
        window = int(self.setting("context_window") or self.row.context)
        known = info_of(self.row.name, model, window)
        known = replace(known, remote=self.row.may_be_here and is_elsewhere(model))
        if model == (self.setting("vision_model") or self.row.vision):
            return replace(known, accepts=known.accepts | {"image"})
        return self._embedding(known) if known.embeds or self._embeds(model) else known

    def price(self, model: str) -> Price | None:
        """The price of a model; one on this machine, or in its network, costs nothing."""
        if self.row.local and self.is_here and not is_elsewhere(model):
            return Price(0.0, 0.0)
        return price_of(self.row.name, model)

    def _embeds(self, model: str) -> bool:
        return bool(model) and model == (self.setting("embedding_model") or self.row.embedding)

    def _embedding(self, known: ModelInfo) -> ModelInfo:
        """The description of a model that embeds."""
        row = embedding_row(known.name)
        return replace(
            known,
            embeds=True,
            tools=False,
            accepts=frozenset({"text"}),
            context=row.context or known.context,
            vectors=VectorInfo(
                row.dimension, row.shortens, self.row.embedded_items, self.row.embedded_tokens
            ),
        )

    def _seeing(self, main: str) -> str | None:
        chosen = self.setting("model")
        if self.row.vision and not chosen:
            return self.row.vision
        return main or None

    def _small(self, main: str) -> str | None:
        return main if self.setting("model") else (self.row.small or main) or None

    def _require_allowed(self, address: str) -> None:
        """Refuse an address that is none, or local without being allowed.

        A service that has no address of its own is wherever the user says, this machine included.

        Raises:
            VrError: as `Fetcher.check`, with the name of the provider.
        """
        require_bare(address, self.row.name)
        on_web = urlsplit(address).scheme in {"http", "https"}
        if on_web and self.row.takes_loopback and _host_of(address) in LOOPBACK:
            return
        try:
            self.services.http.check(address)
        except VrError as error:
            why = error.message.partition(": ")[2]
            message = f"The base URL of {self.row.name} is refused: {why}"
            is_private = on_web and error.code is Code.NOT_ALLOWED and _host_of(address)
            raise error.reworded(
                message, _allowing(address) if is_private else error.hint
            ) from None


def is_elsewhere(model: str) -> bool:
    """True for a model of Ollama's cloud, to which a server on this machine passes requests on."""
    return model.strip().lower().endswith(CLOUD)


def require_bare(address: str, provider: str) -> None:
    """Refuse a base URL that may hold a secret, as addresses are shown.

    Raises:
        VrError: NOT_ALLOWED, category URL_NOT_ALLOWED.
    """
    parts = _parts_of(address)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise VrError(
            f"The address of {provider} holds a name, a password or a query.",
            Code.NOT_ALLOWED,
            category="URL_NOT_ALLOWED",
            hint="Give the address alone, and the key as its api_key in [plugins.models].",
        )


def _parts_of(address: str) -> SplitResult:
    """The parts of an address.

    Raises:
        VrError: INVALID_INPUT, category URL_INVALID.
    """
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        raise VrError(
            "The address of a service of models is malformed.",
            Code.INVALID_INPUT,
            category="URL_INVALID",
            hint="Write it as http://host:port/path.",
        ) from None
    return parts


def _host_of(address: str) -> str:
    return _parts_of(address).hostname or ""


def _allowing(address: str) -> str:
    """The setting that allows an address of a local network."""
    parts = _parts_of(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f'If it is meant, add "{host}:{port}" to allowed_hosts in [kernel.http].'


def _is_near(host: str) -> bool:
    """True for a host of the local network, which the user allowed by name."""
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith(NEAR)
