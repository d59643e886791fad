"""The fetcher of web pages and files: each address is checked, each answer bounded."""

from __future__ import annotations

from vr_kernel.http.fetcher import Fetcher
from vr_kernel.http.pages import Download, Page
from vr_kernel.http.retry_after import parse_retry_after
from vr_kernel.http.urls import Url, check_url, redact_url

__all__ = ["Download", "Fetcher", "Page", "Url", "check_url", "parse_retry_after", "redact_url"]
