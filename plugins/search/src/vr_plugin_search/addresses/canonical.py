"""The one spelling of an address: equal pages have equal ones, however they are linked."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from vr_plugin_search.addresses.identifiers import identifier_of_url

_TRACKING = re.compile(
    r"utm_.*|ga_.*|mtm_.*|pk_.*|hsa_.*|_?hs(?:enc|mi)|(?:g|d|fb|tw|tt|yc)clid|(?:gb|wb)raid|msclkid|gclsrc"
    r"|igsh(?:id)?|mc_[ce]id|mkt_tok|oly_(?:anon|enc)_id|s_cid|srsltid|ref_src|ref_url|_ga|_gl"
    r"|vero_(?:conv|id)|wickedid|cmpid|spm|trk",
    re.IGNORECASE,
)
"""Parameters by which visitors are followed; a page is the same without them."""
_PORTS = (80, 443)


def canonical(url: str) -> str:
    """Return the spelling by which an address is compared; it is shown to nobody.

    The scheme, `www.`, a port that goes without saying, fragments, tracking parameters, the order
    of parameters and a slash at the end make no difference. The forms of a paper at arXiv, and the
    DOI that it has there, are one; so are the spellings of a DOI.
    """
    # w3lib is Scrapy's own library for addresses: maintained, typed, and without dependencies.
    from w3lib.url import canonicalize_url

    try:
        parts = urlsplit(canonicalize_url(url))
        host = (parts.hostname or "").rstrip(".").removeprefix("www.")
        port = parts.port
    except ValueError:
        return url
    if not host:
        return url
    if found := identifier_of_url(url):
        return found.url or url
    place = f"[{host}]" if ":" in host else host
    if port is not None and port not in _PORTS:
        place = f"{place}:{port}"
    asked = parse_qsl(parts.query, keep_blank_values=True)
    kept = sorted((name, value) for name, value in asked if not _TRACKING.fullmatch(name))
    return urlunsplit(("https", place, parts.path.rstrip("/"), urlencode(kept), ""))
