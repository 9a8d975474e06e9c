"""Finds out by its content what wrote a log, and reads it."""

from __future__ import annotations

import gzip
import re
import struct
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

from own_runs.logs.bounds import MOST_EVENT_BYTES, MOST_LINES, MOST_TEXT_BYTES, MOST_UNPACKED_BYTES
from own_runs.logs.columns import header_has_place
from own_runs.logs.free_text import read_free_text
from own_runs.logs.json_logs import read_json, wrapped_text
from own_runs.logs.log import LogRefused, NothingYet, TrainingLog, only_refusals
from own_runs.logs.mlperf import MARK, read_mlperf
from own_runs.logs.printed import read_printed
from own_runs.logs.tables import LINE, header_of, is_tabular, read_mlflow, read_table
from own_runs.logs.tensorboard import HEADER, read_tensorboard

HEAD_BYTES = 4096
MOST_CUT = 4
NO_TEXT = {
    **{
        bytes((0x80, version)): "a pickle, which may run any program: export the metrics as CSV"
        for version in range(2, 6)
    },
    b"version https://git-lfs.github.com/spec/": "a pointer of Git LFS: fetch the file itself with git lfs pull",
    b"SQLite format 3": "a database, such as MLflow keeps: write the metric as CSV, with columns step, timestamp and its name",
    b"PK\x03\x04": "a zip archive: unpack it and give the log inside",
    b"BZh": "bzip2: unpack it and give the log inside",
    b"\xfd7zXZ": "xz: unpack it and give the log inside",
    b"(\xb5/\xfd": "Zstandard: unpack it and give the log inside",
}
"""How files begin that are no logs, what they are, and what to do."""
JSON = re.compile(r"\A\s*+(?:\{\s*+[\"}]|\[\s*+[\[{])")
TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
"""Codes of a terminal: colours, moves of the cursor, titles."""
WALL_TIME = b"\x09"  # how the first field of an event begins; old writers do not tell the version
GZIP = b"\x1f\x8b"
KNOWN = (
    "known are DAWNBench's TSV, MLPerf's log, CSV of Keras, Lightning and Ultralytics, timm's summary.csv, trainer_state.json, "
    "TensorBoard's event files, exports of Weights & Biases and MLflow, what pytorch/examples, torchvision, timm, FFCV, pycls, "
    "MMPretrain, NVIDIA's examples, nanoGPT, llm.c, torchtune, torchtitan and transformers print, a CSV with epoch or step and a "
    "metric, and lines such as 'Epoch 3: val_acc=0.71'"
)


@only_refusals()
def read_log(path: Path) -> TrainingLog:
    """The log in a file. Raises LogRefused saying what is wrong and where."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    _refuse_packed(head)
    if is_event_file(head):
        _check_size(path, MOST_EVENT_BYTES)
        return read_tensorboard(path)
    _check_size(path, MOST_TEXT_BYTES)
    if head.startswith(GZIP):
        return read_text(_unpacked(path), path.name.removesuffix(".gz"))
    return read_text(path.read_bytes(), path.name)


def _unpacked(path: Path) -> bytes:
    """The text in a gzip file. Raises LogRefused if it is too long, not text or not whole."""
    try:
        with gzip.open(path) as file:
            content = file.read(MOST_UNPACKED_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise LogRefused(f"this gzip file cannot be unpacked ({error})") from None
    if len(content) > MOST_UNPACKED_BYTES:
        raise LogRefused(
            f"more than {MOST_UNPACKED_BYTES / 2**20:,.0f} MiB are packed in it: unpack it, or keep the evaluations"
        )
    _refuse_packed(content)
    if is_event_file(content) or content.startswith(GZIP):
        raise LogRefused("this is gzip: unpack it and give the log inside")
    return content


def _refuse_packed(head: bytes) -> None:
    for beginning, what in NO_TEXT.items():
        if head.startswith(beginning):
            raise LogRefused(f"this is {what}")


def is_event_file(head: bytes) -> bool:
    """Whether it begins with a record of TensorBoard's: one that tells the version of the format, or a moment."""
    if len(head) < HEADER.size:
        return False
    length, _ = struct.unpack_from("<QI", head)
    record = head[HEADER.size : HEADER.size + length]
    return length < HEAD_BYTES and (b"brain.Event:" in record or record.startswith(WALL_TIME))


def _check_size(path: Path, most: int) -> None:
    size = path.stat().st_size
    if size > most:
        limit = f"at most {most / 2**20:,.0f} are read"
        raise LogRefused(f"the file has {size / 2**20:,.0f} MiB: {limit}; keep the evaluations")


def _decoded(content: bytes) -> str:
    """The text without the codes of a terminal. Bytes that were cut do not spoil a long text. Raises LogRefused."""
    lines = content.count(b"\n") + content.count(b"\r")
    if lines > MOST_LINES:
        raise LogRefused(f"it has {lines:,} lines: at most {MOST_LINES:,} are read; keep the evaluations")
    encoding = "utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
    text = content.decode(encoding, "replace").lstrip("\0")
    if text.count("\ufffd") > MOST_CUT + len(text) / 1000 and MARK not in text:
        raise LogRefused(f"this is no UTF-8 text; {KNOWN}")
    text = TERMINAL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))  # a bar drawn over another is a line too
    if not text.strip():
        raise NothingYet("the file is empty")
    if "\0" in text:
        raise LogRefused(f"the file has binary content; {KNOWN}")
    return text


@only_refusals()
def read_text(content: bytes, name: str) -> TrainingLog:
    """The log in the content of a file of this name that is not an event file. Raises LogRefused."""
    text = _decoded(content)
    first = text.strip().splitlines()[0]
    if MARK in text:
        return read_mlperf(text)
    if JSON.match(text):
        if unwrapped := wrapped_text(text):
            return read_printed(unwrapped) or _read_lines(unwrapped)
        return read_json(text)
    if printed := read_printed(text):
        return printed
    return read_mlflow(text, name) if LINE.fullmatch(first) else _read_lines(text)


def _read_lines(text: str) -> TrainingLog:
    """A table, else lines of free text. Raises LogRefused."""
    is_table = is_tabular(text)
    if is_table and header_has_place(header_of(text)):
        return read_table(text)
    if log := read_free_text(text):
        return log
    if is_table:
        return read_table(text)  # which says what its header lacks
    raise NothingYet(f"no line names an epoch or a step, and a value beside it; {KNOWN}")
