"""What identifies an edition: who signed it, when it was made, and its place in the publisher's row of editions."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct


class EditionHead(Struct, frozen=True):
    """`key` is the public key of who signs, `number` counts a publisher's editions from 1 (0: made on request, without a number),
    `previous` is the digest of the edition before, empty where there is none, and `digest` that of this one. From `expires_at` on
    nobody takes it."""

    key: str
    number: int
    made_at: datetime
    previous: str = ""
    digest: str = ""
    expires_at: datetime | None = None

    def fault_after(self, taken: EditionHead) -> str | None:
        """Why it cannot be taken after that one of the same key; None if it can, or is that one."""
        if self.digest == taken.digest:
            return None
        if self.made_at <= taken.made_at:
            return f"is no newer than the one of {taken.made_at:%Y-%m-%d %H:%M} UTC that was taken last"
        if self.number and self.number <= taken.number:
            return f"has number {self.number}, no higher than {taken.number}, which was taken last"
        return None
