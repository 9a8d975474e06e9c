"""A shelf for runs in place of a store."""

from api.stored import KnownRuns


class KeptRuns:
    def __init__(self):
        self._rows = ()
        self.changes = []

    def seen_by(self, owner):
        return KnownRuns(self._rows).seen_by(owner)

    def version(self, owner):
        return KnownRuns(self._rows).version(owner)

    def add(self, row, by):
        self._rows = (*self._rows, row)
        self.changes.append((by.who, "added", row.id))

    def remove(self, id, by):
        self._rows = tuple(row for row in self._rows if row.id != id)
        self.changes.append((by.who, "removed", id))
