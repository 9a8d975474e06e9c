"""A shelf for runs in place of a store."""


class KeptRuns:
    def __init__(self):
        self._rows = ()

    def all(self):
        return self._rows

    def add(self, row):
        self._rows = (*self._rows, row)

    def remove(self, id):
        self._rows = tuple(row for row in self._rows if row.id != id)
