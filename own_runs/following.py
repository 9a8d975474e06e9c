"""A log that is still being written: read again and again, through half-written lines and rotation."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG

from own_runs.logs.bounds import MOST_TEXT_BYTES
from own_runs.logs.log import LogRefused, TrainingLog
from own_runs.logs.mlperf import MARK
from own_runs.logs.reading import is_event_file, read_log, read_text
from own_runs.reading_apart import read_apart

HEAD_BYTES = 4096
LINE = b"\n"


@dataclass
class FollowedLog:
    """A log's file, and what stood in the files of that name before it was rotated."""

    path: Path
    _earlier: bytes = b""
    _current: bytes = b""
    _last: TrainingLog | None = field(default=None)

    def look(self) -> TrainingLog:
        """The log so far, or what was read last while its file is away or rewritten. Raises LogRefused before the first reading
        succeeds: NothingYet for a file without a value."""
        try:
            self._last = self._read()
        except LogRefused:
            if self._last is None:
                raise
        except OSError as error:
            if self._last is None:
                raise LogRefused(f"{error.filename}: {error.strerror}") from None
        return self._last

    def _read(self) -> TrainingLog:
        if not S_ISREG(self.path.stat().st_mode):  # a device may never end, nor a pipe begin
            raise LogRefused(f"{self.path} is not a file: name the log that the training writes")
        with self.path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        first = head.lstrip().partition(LINE)[0].rstrip()
        is_document = first.startswith(b"{") and not first.endswith(b"}")  # one of JSON, which is written as a whole
        if is_event_file(head) or is_document or self.path.stat().st_size > MOST_TEXT_BYTES:
            return read_apart(TrainingLog, read_log, self.path)
        content = self.path.read_bytes()
        self._take(content[: content.rfind(LINE) + 1])  # without a last line that is still being written
        return read_apart(TrainingLog, read_text, self._earlier + self._current, self.path.name)

    def _take(self, content: bytes) -> None:
        """Takes in the file's content: more of the same, the next file after a rotation, with its header or without, or the whole
        log again with more columns, as Lightning rewrites it."""
        before, header = (self._earlier + self._current).partition(LINE)[0], content.partition(LINE)[0]
        if before != header and is_header(before) and is_header(header):
            self._earlier = self._current = b""
        header = self._earlier.partition(LINE)[0]
        content = content.removeprefix(header + LINE) if header else content
        if not content.startswith(self._current[:HEAD_BYTES]) or len(content) < len(self._current):
            self._earlier += self._current
            content = content.removeprefix(self._earlier.partition(LINE)[0] + LINE)
        self._current = content


def is_header(line: bytes) -> bool:
    """Whether a line may be the header of a table."""
    return (line[:1].isalpha() or line[:1] in (b"_", b'"')) and MARK.encode() not in line
