"""Names and shapes of secrets, in one table: of variables, settings, addresses and messages."""

from __future__ import annotations

import re

LONG_VALUE = 24
"""A parameter value in an address that is this long counts as a secret, whatever its name."""
_NAME = re.compile(
    r"KEY(?!BOARD|MAP|WORD)|TOKEN(?!IZER)|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE
)
_FOREIGN_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)
_PARAMETER = re.compile(
    r"key|token|sig|secret|pass|pwd|auth|cred|code|session|sid|jwt|access|hash|hmac|otp|policy"
    r"|expires|ticket|nonce|state|x-amz|x-goog",
    re.IGNORECASE,
)
SECRET_SHAPES = re.compile(
    r"AIza[\w-]{10,}|\bAQ\.[\w-]{10,}"  # keys of Google, as its consoles make them
    r"|(?<=://)[^/\s@]+(?=@)"  # name and password in an address
    r"|(?i:(?<=bearer )[\w.~+/-]{8,})"
)
"""Texts that look like a secret, whatever surrounds them."""
SECRET_PARAMETERS = re.compile(  # of an address that is signed, or contains a key
    r"(?i:([?&;][\w.~-]*(?:key|token|secret|sig|signature|passw(?:or)?d|credential)=))[^&\s\"'<>]+"
)
"""Parameters within any text: group 1 is the name, a secret follows."""


def is_secret_name(name: str, *, foreign: bool = False) -> bool:
    """Say if a variable or setting of that name holds a secret.

    Args:
        name: in any case.
        foreign: a name of another program: in doubt it counts as a secret.
    """
    return bool((_FOREIGN_NAME if foreign else _NAME).search(name))


def is_secret_parameter(name: str, value: str) -> bool:
    """Say if a parameter of an address may be a secret; in doubt it counts as one."""
    return bool(_PARAMETER.search(name)) or len(value) >= LONG_VALUE
