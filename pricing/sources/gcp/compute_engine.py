"""What Compute Engine lists in every zone, asked with Google's SDK, which is imported only then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pricing.recording import Recording
from pricing.sources.gcp.offers import Inventory, MachineType
from pricing.sources.source import SourceError

REFUSED = frozenset({400, 401, 403, 404})
CALL_SECONDS = 30
RETRY_SECONDS = 90  # all attempts of one call together: quotas refill each minute
THROTTLED = frozenset({"rateLimitExceeded", "RATE_LIMIT_EXCEEDED"})  # a 403: docs.cloud.google.com/compute/api-quota
OUR_FAMILIES = 'name eq "(a[0-9]|g[0-9]|n1).*"'


class NotCallable(Exception):
    """Compute Engine may not be asked, or refuses; the message says what is missing."""


def inventory(compute_url: str, project: str, recording: Recording | None = None) -> Inventory:
    """What Compute Engine lists in every zone. Raises NotCallable if it may not be asked, SourceError if it fails.

    A plain-http address is called anonymously: a token is never sent in the clear. `recording` keeps what is answered.
    """
    plain = compute_url.startswith("http:")
    if not project and not plain:
        raise NotCallable("machine types are not read, set COSTCALC_GCP_PROJECT")
    from google.api_core.exceptions import GoogleAPICallError, RetryError
    from google.auth.exceptions import GoogleAuthError
    from google.protobuf.json_format import ParseError

    try:
        compute = _Compute.connect(compute_url, project or "anonymous", anonymous=plain)
        if recording is not None:
            compute.keep_answers(recording)
        return compute.inventory()
    except GoogleAuthError as error:
        missing = "Google credentials are missing, expired or refused"
        raise NotCallable(f"machine types are not read, {missing} ({type(error).__name__})") from None
    except GoogleAPICallError as error:
        if error.code in REFUSED:
            raise NotCallable(f"machine types are not read, Compute Engine answered {int(error.code)}") from None
        raise SourceError(f"gcp: Compute Engine answered {error.code and int(error.code)}") from None
    except (RetryError, OSError, ParseError, ValueError) as error:
        raise SourceError(f"gcp: Compute Engine: {type(error).__name__}") from None


@dataclass(frozen=True, slots=True)
class _Compute:
    """The Compute Engine clients, all of one address and one project."""

    project: str
    machine_types: Any
    accelerator_types: Any
    call: Mapping[str, Any]

    @classmethod
    def connect(cls, url: str, project: str, *, anonymous: bool) -> _Compute:
        import google.auth
        from google.api_core.retry import Retry
        from google.auth.credentials import AnonymousCredentials
        from google.cloud import compute_v1

        scopes = ["https://www.googleapis.com/auth/compute.readonly"]
        credentials = AnonymousCredentials() if anonymous else google.auth.default(scopes=scopes)[0]
        options = {"credentials": credentials, "client_options": {"api_endpoint": url}, "transport": "rest"}
        return cls(
            project,
            compute_v1.MachineTypesClient(**options),
            compute_v1.AcceleratorTypesClient(**options),
            {"timeout": CALL_SECONDS, "retry": Retry(predicate=_passes, initial=0.5, timeout=RETRY_SECONDS)},
        )

    def keep_answers(self, recording: Recording) -> None:
        """Google's clients speak through requests, whose sessions let others read along."""

        def keep(response: Any, **_: object) -> None:
            recording.keep(response.request.method, response.url, response.content)

        for client in (self.machine_types, self.accelerator_types):
            client.transport._session.hooks["response"].append(keep)

    def inventory(self) -> Inventory:
        request = {"project": self.project, "filter": OUR_FAMILIES, "max_results": 500}
        types = self.machine_types.aggregated_list(request=request, **self.call)
        attachable = self.accelerator_types.aggregated_list(request={"project": self.project}, **self.call)
        machines = tuple(
            _machine_type(kind, scope.rpartition("/")[2])
            for scope, group in types
            for kind in group.machine_types
            if kind.deprecated.state not in ("OBSOLETE", "DELETED")
        )
        most = {
            (kind.name, scope.rpartition("/")[2]): kind.maximum_cards_per_instance
            for scope, group in attachable
            for kind in group.accelerator_types
        }
        return Inventory(machines, most)


def _passes(error: Exception) -> bool:
    """Whether Compute Engine may answer the same call a minute later."""
    from google.api_core.exceptions import GoogleAPICallError, ServerError, TooManyRequests

    if not isinstance(error, GoogleAPICallError):
        return False
    reasons = {error.reason, *(each.get("reason") for each in error.errors if isinstance(each, dict))}
    return isinstance(error, TooManyRequests | ServerError) or not THROTTLED.isdisjoint(reasons)


def _machine_type(listed: Any, zone: str) -> MachineType:
    gpus: Iterable[Any] = listed.accelerators
    accelerator_type, count = next(((gpu.guest_accelerator_type, gpu.guest_accelerator_count) for gpu in gpus), ("", 0))
    return MachineType(listed.name, zone, listed.guest_cpus, listed.memory_mb / 1024, accelerator_type, count)
