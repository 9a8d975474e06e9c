"""What a provider answered, kept as the recordings that the tests serve; secrets are cut out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

FILE = "answers.json"
CUT_OUT = "cut-out"


class Recording:
    """Collects answers over HTTP. `secrets` are texts that must not be kept, wherever they stand."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = sorted(filter(None, secrets), key=len, reverse=True)
        self._answers: list[dict[str, object]] = []

    def __len__(self) -> int:
        return len(self._answers)

    def keep(self, method: str, url: str, content: bytes, question: str = "") -> None:
        """Add the answer to a request, without secrets, also in its query. `question` says what the address does not."""
        address = urlsplit(self._cut(url))
        answer: dict[str, object] = {"method": method, "path": address.path or "/"}
        if query := dict(parse_qsl(address.query)):
            answer["query"] = query
        if question:
            answer["asked"] = self._cut(question)
        text = self._cut(content.decode("utf-8", "replace"))
        try:
            answer["body"] = json.loads(text)
        except ValueError:
            answer["text"] = text
        self._answers.append(answer)

    def save(self, folder: Path, origin: str) -> Path:
        """Writes the recording, with where it comes from, into a folder, which is made if need be."""
        folder.mkdir(parents=True, exist_ok=True)
        document = {"origin": [origin], "answers": self._answers}
        (folder / FILE).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return folder / FILE

    def _cut(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, CUT_OUT)
        return text
