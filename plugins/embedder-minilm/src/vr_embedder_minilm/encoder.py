"""The model in memory: one text in, one vector out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vr_kernel import Code, VrError

from vr_embedder_minilm.checksums import MODEL_FILE, TOKENIZER_FILE, verify_files

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

TOKEN_LIMIT = 256
"""Tokens of a text that count, the two special ones included: `max_seq_length` of the model."""
CHARACTER_LIMIT = 32_768
"""Longest text that is tokenised; 256 tokens of at most 100 characters fit in."""
_ERRORS_ONLY = 3


class Encoder:
    """Tokenizer and network; blocking, and to be used by one thread at a time.

    A text is encoded alone, never beside others: the quantised network takes the range of its
    activations from the whole input, so that neighbours in a batch would change the vector.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        """Load the model of `folder` for `threads` processor threads.

        Raises:
            VrError: UNAVAILABLE when a library is missing or a file is damaged.
        """
        verify_files(folder)
        try:
            from tokenizers import Tokenizer

            self._session = _open_session(folder / MODEL_FILE, threads)
        except ImportError as error:
            raise _missing_library(error) from error
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        self._tokenizer.enable_truncation(TOKEN_LIMIT)
        self._tokenizer.no_padding()

    def encode(self, text: str) -> list[float]:
        """The unit-length vector of a text; of an empty text, that of the special tokens."""
        import numpy as np

        ids = np.array([self._tokenizer.encode(_clean(text)).ids], dtype=np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        (vectors,) = self._session.run(["embedding"], feeds)
        vector: list[float] = vectors[0].tolist()
        return vector


def _open_session(path: Path, threads: int) -> InferenceSession:
    # Since 1.29 its builds report use to Microsoft, unless this is set before the first import.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = False
    options.log_severity_level = _ERRORS_ONLY
    session: Any = onnxruntime.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"]
    )
    return session


def _clean(text: str) -> str:
    # A lone surrogate has no UTF-8 form, and the tokenizer would refuse the whole text.
    return text[:CHARACTER_LIMIT].encode("utf-8", "replace").decode("utf-8")


def _missing_library(error: ImportError) -> VrError:
    return VrError(
        f"The embedder cannot start: {error.name or 'a library'} cannot be imported.",
        Code.UNAVAILABLE,
        category="EXTRA_MISSING",
        hint="Install it again: pip install --force-reinstall vr-embedder-minilm onnxruntime",
    )
