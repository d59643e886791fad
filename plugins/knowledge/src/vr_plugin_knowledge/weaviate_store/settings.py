"""Settings of the Weaviate server."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, SecretStr
from vr_kernel import EnvAlias, Section

Consistency = Literal["ONE", "QUORUM", "ALL"]
Secret = Annotated[SecretStr, BeforeValidator(lambda v: v.strip() if isinstance(v, str) else v)]


class WeaviateSettings(Section):
    """The part of `[plugins.knowledge]` that says where and how records are kept on a server."""

    weaviate_url: Annotated[
        str,
        EnvAlias("WEAVIATE_URL"),
        EnvAlias("WEAVIATE_URL", means="weaviate", sets="store.backend"),
    ] = Field(
        "",
        max_length=1000,
        description="Where the Weaviate server is, such as http://localhost:8080. The variable"
        " WEAVIATE_URL chooses this store, too.",
    )
    weaviate_api_key: Annotated[Secret, EnvAlias("WEAVIATE_API_KEY")] = Field(
        SecretStr(""), description="Key of the Weaviate server; empty for one without."
    )
    weaviate_grpc_port: Annotated[int, EnvAlias("WEAVIATE_GRPC_PORT")] = Field(
        50051, ge=1, le=65_535, description="Port of its gRPC service; Weaviate Cloud has its own."
    )
    weaviate_prefix: str = Field(
        "",
        pattern=r"^([A-Z][A-Za-z0-9]{0,31}_)?$",
        description="What the names of its collections begin with, such as Team_.",
    )
    weaviate_replicas: int = Field(
        1, ge=1, le=64, description="Nodes that hold each object; counts for new collections."
    )
    weaviate_shards: int = Field(
        0,
        ge=0,
        le=1024,
        description="Shards of a collection of one workspace; 0: as many as the cluster has nodes.",
    )
    weaviate_consistency: Consistency = Field(
        "QUORUM", description="How many replicas must confirm a write or agree on a read."
    )
    weaviate_tenants: bool = Field(
        True,
        description="Whether new collections keep each workspace in a tenant of its own.",
    )
    weaviate_connect_s: float = Field(
        30.0, gt=0, le=300, description="Seconds to wait for the server at first."
    )
    weaviate_query_s: float = Field(
        60.0, gt=0, le=600, description="Seconds to wait for an answer of the server."
    )
    weaviate_agents_url: str = Field(
        "",
        max_length=1000,
        description="Where the query agents of Weaviate are; empty: those of Weaviate Cloud.",
    )
    weaviate_agent_s: float = Field(
        120.0, gt=0, le=3600, description="Seconds to wait for an answer of a query agent."
    )
    weaviate_insert_s: float = Field(
        120.0, gt=0, le=3600, description="Seconds to wait until the server took a batch."
    )
