"""Values that were filled in to the form of a PDF: they are no part of the text of its pages."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

MOST_FIELDS = 2_000
"""Most fields of a page that are looked at."""
FIELD_CHARS = 5_000
PASSWORD_FLAG = 1 << 13
"""A field whose text is hidden. Source: ISO 32000-1, table 228."""
END_BYTES = 2
"""Bytes of the sign that ends a text of the library."""


def filled_in(page: Any) -> Iterator[str]:
    """Return a line for each field of a page that holds something, such as `Name: Ada`."""
    from pypdfium2 import raw

    if not page.formenv:
        return
    for at in range(min(raw.FPDFPage_GetAnnotCount(page), MOST_FIELDS)):
        field = raw.FPDFPage_GetAnnot(page, at)
        if not field:
            continue
        try:
            if raw.FPDFAnnot_GetSubtype(field) == raw.FPDF_ANNOT_WIDGET:
                yield from _line(page.formenv, field)
        finally:
            raw.FPDFPage_CloseAnnot(field)


def text_of(ask: Callable[..., int], *of: Any) -> str:
    """Return a text that the library writes into a buffer of the size that it says."""
    size = ask(*of, None, 0)
    if size <= END_BYTES:
        return ""
    buffer = ctypes.create_string_buffer(size)
    ask(*of, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw[: size - END_BYTES].decode("utf-16-le", "replace")


def _line(form: Any, field: Any) -> Iterator[str]:
    from pypdfium2 import raw

    value = " ".join(_value(form, field, raw).split())[:FIELD_CHARS]
    if value:
        name = text_of(raw.FPDFAnnot_GetFormFieldAlternateName, form, field)
        name = name or text_of(raw.FPDFAnnot_GetFormFieldName, form, field).rpartition(".")[2]
        yield f"{' '.join(name.split())[:FIELD_CHARS]}: {value}"


def _value(form: Any, field: Any, raw: Any) -> str:
    kind = raw.FPDFAnnot_GetFormFieldType(form, field)
    if kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON):
        if not raw.FPDFAnnot_IsChecked(form, field):
            return ""
        return text_of(raw.FPDFAnnot_GetFormFieldExportValue, form, field) or "yes"
    hidden = raw.FPDFAnnot_GetFormFieldFlags(form, field) & PASSWORD_FLAG
    if hidden or kind == raw.FPDF_FORMFIELD_PUSHBUTTON:
        return ""
    return text_of(raw.FPDFAnnot_GetFormFieldValue, form, field)
