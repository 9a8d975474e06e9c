"""Calls of AWS's services with boto3: page by page, and with errors in words that people can act on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock, local
from typing import Any

from pricing.recording import Recording
from pricing.sources.source import (
    CredentialsMissing,
    Environment,
    NotAllowed,
    SchemaChanged,
    SourceError,
    SourceSetting,
)

READ_SECONDS = SourceSetting(
    "COSTCALC_AWS_READ_SECONDS", "how many seconds one read may stall; each call is tried four times", "10"
)
SETTINGS = (
    SourceSetting(
        "AWS_ACCESS_KEY_ID", "access key; unset, with no profile or role: the public price list", secret=True
    ),
    SourceSetting("AWS_SECRET_ACCESS_KEY", "secret of the access key", secret=True),
    SourceSetting("AWS_SESSION_TOKEN", "session token, for temporary credentials", secret=True),
    SourceSetting("AWS_PROFILE", "profile in AWS's own configuration files, instead of a key"),
    SourceSetting("AWS_ENDPOINT_URL", "address of all AWS services, for a proxy or a test server"),
    SourceSetting("AWS_ENDPOINT_URL_PRICING", "address of the Price List API"),
    SourceSetting("AWS_ENDPOINT_URL_EC2", "address of EC2"),
    SourceSetting("AWS_ENDPOINT_URL_SAVINGSPLANS", "address of Savings Plans"),
    READ_SECONDS,
)
SESSION_ARGUMENTS = {
    "aws_access_key_id": "AWS_ACCESS_KEY_ID",
    "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY",
    "aws_session_token": "AWS_SESSION_TOKEN",
    "profile_name": "AWS_PROFILE",
}
SERVICES_WITH_PRICES = ("pricing", "ec2", "savingsplans")
ATTEMPTS = 4
CONNECT_SECONDS = 4
CONNECTIONS = 16
MOST_PAGES = 2000

# botocore does not retry it. The limit holds for one account in one region, refills slowly, and is 0 without a quota.
BLOCK_LIMIT = "CapacityBlockDescribeLimitExceeded"
SILENT = {"ConnectTimeoutError", "EndpointConnectionError", "ReadTimeoutError"}
BROKEN = {
    "ConnectTimeoutError": "cannot be reached",
    "EndpointConnectionError": "cannot be reached",
    "ReadTimeoutError": "stopped answering",
    "ConnectionClosedError": "broke off its answer",
    "IncompleteReadError": "broke off its answer",
}


class Unreachable(SourceError):
    """An endpoint did not answer, or not in time, in any attempt."""


class NotOffered(SourceError):
    """AWS does not sell this machine this way in this region."""


class LimitReached(SourceError):
    """AWS answers no more calls of this kind in this region for now, or none at all to an account without a quota."""


ANSWERED = "{permission} answered {code}"
REFUSALS: tuple[tuple[str, type[SourceError], str], ...] = (
    (
        "ExpiredToken ExpiredTokenException RequestExpired",
        CredentialsMissing,
        "the AWS credentials have expired ({code}): sign in again, or set a new AWS_SESSION_TOKEN",
    ),
    (
        "AuthFailure IncompleteSignature InvalidClientTokenId InvalidSignatureException MissingAuthenticationToken "
        "SignatureDoesNotMatch UnrecognizedClientException",
        CredentialsMissing,
        "AWS does not accept the credentials for {permission} ({code}): check AWS_ACCESS_KEY_ID",
    ),
    (
        "403 AccessDenied AccessDeniedException AuthorizationError OptInRequired UnauthorizedOperation",
        NotAllowed,
        "the AWS account may not call {permission} ({code}): allow it in IAM",
    ),
    (
        "404 InvalidAction NotFound NotYetImplemented UnknownOperation UnknownOperationException",
        NotAllowed,
        "{permission} is not there ({code})",
    ),
    (BLOCK_LIMIT, LimitReached, ANSWERED),
    (
        "InvalidInstanceType InvalidParameterCombination InvalidParameterValue Unsupported UnsupportedOperation",
        NotOffered,
        ANSWERED,
    ),
)
"""Codes with which AWS refuses a call, what each means here, and in words."""


class Calls:
    """What may be asked of one account. Clients are shared by threads, as botocore allows."""

    def __init__(self, session: Any, environment: Environment, config: Any) -> None:
        self._session, self._environment, self._config = session, environment, config
        self._clients: dict[tuple[str, str], Any] = {}
        self._lock = Lock()

    def items(self, permission: str, region: str, listed: str, arguments: Mapping[str, object]) -> Iterator[Any]:
        """Every item under `listed` in all pages of one call, such as `pricing:GetProducts`, whose pages may be empty.

        Raises CredentialsMissing, Unreachable, NotOffered, LimitReached or another SourceError; no message carries what
        AWS said, which may name the account.
        """
        token_name = "nextToken" if permission.startswith("savingsplans:") else "NextToken"
        token, spent = None, set[str | None]()
        while token not in spent and len(spent) < MOST_PAGES:
            spent.add(token)
            page = self._page(permission, region, listed, {**arguments, **({token_name: token} if token else {})})
            yield from page.get(listed) or ()
            token = page.get(token_name)
            if not token:
                return
        raise SourceError(f"{permission} hands out pages without end")

    def _page(self, permission: str, region: str, listed: str, arguments: Mapping[str, object]) -> Mapping[str, Any]:
        """One page, asked for once more if it breaks off: botocore takes half a body for a whole one."""
        try:
            return self._answer(permission, region, listed, arguments)
        except SchemaChanged:
            return self._answer(permission, region, listed, arguments)

    def _answer(self, permission: str, region: str, listed: str, arguments: Mapping[str, object]) -> Mapping[str, Any]:
        from botocore import xform_name

        service, _, operation = permission.partition(":")
        with _in_our_words(permission):
            page: Mapping[str, Any] = getattr(self._client(service, region), xform_name(operation))(**arguments)
        if listed not in page and service != "ec2":  # EC2 leaves empty sets out of its XML
            raise SchemaChanged(f"{permission} answered without {listed}")
        return page

    def _client(self, service: str, region: str) -> Any:
        endpoint = _endpoint(self._environment, service)
        with self._lock:
            if (service, region) not in self._clients:
                made = self._session.client(service, region_name=region, endpoint_url=endpoint, config=self._config)
                self._clients[service, region] = made
            return self._clients[service, region]


def open_calls(environment: Environment, recording: Recording | None = None) -> Calls | None:
    """The account's calls, or None without credentials. A plain-http price list is called unsigned if there are none.

    `recording` keeps what they are answered. Raises CredentialsMissing for half a key or a profile that does not exist.
    """
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config

    given = {argument: environment[name] for argument, name in SESSION_ARGUMENTS.items() if environment.get(name)}
    if ("aws_access_key_id" in given) != ("aws_secret_access_key" in given):
        raise CredentialsMissing("half an AWS key: set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    with _in_our_words("the AWS credentials"):
        session = boto3.session.Session(**given)
        signed = session.get_credentials() is not None
    if not signed and not (_endpoint(environment, "pricing") or "").startswith("http://"):
        return None
    if recording is not None:
        _keep_answers(session.events, recording)
    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=float(READ_SECONDS.read(environment)),
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        max_pool_connections=CONNECTIONS,
        **({} if signed else {"signature_version": UNSIGNED}),
    )
    return Calls(session, environment, config)


def _keep_answers(events: Any, recording: Recording) -> None:
    """Keep the answers of the services with prices, never of those that hand out credentials."""
    sent = local()

    def remember(request: Any, **_: object) -> None:
        sent.request = request

    def keep(operation_model: Any, response_dict: Mapping[str, Any], **_: object) -> None:
        body = sent.request.body or b""
        question = f"{operation_model.name} {body if isinstance(body, str) else body.decode()}"
        recording.keep(sent.request.method, sent.request.url, response_dict["body"], question)

    for service in SERVICES_WITH_PRICES:
        events.register(f"before-send.{service}", remember)
        events.register(f"before-parse.{service}", keep)


@contextmanager
def _in_our_words(permission: str) -> Iterator[None]:
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.parsers import ResponseParserError

    try:
        yield
    except ClientError as error:
        code = re.sub(r"\W", "", error.response["Error"].get("Code", ""))[:60]
        refusals = ((kind, words) for codes, kind, words in REFUSALS if code in codes.split())
        kind, words = next(refusals, (SourceError, ANSWERED))
        raise kind(words.format(permission=permission, code=code or "an error")) from None
    except ResponseParserError:
        raise SchemaChanged(f"{permission} answered something unreadable") from None
    except BotoCoreError as error:
        raise _failure(permission, type(error).__name__) from None


def _failure(permission: str, kind: str) -> SourceError:
    if kind in ("PartialCredentialsError", "ProfileNotFound", "NoCredentialsError", "CredentialRetrievalError"):
        advice = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
        return CredentialsMissing(f"{permission}: {kind}; {advice}")
    reason = f"{permission} {BROKEN.get(kind, f'failed: {kind}')}"
    return Unreachable(reason) if kind in SILENT else SourceError(reason)


def _endpoint(environment: Environment, service: str) -> str | None:
    """None leaves the choice to botocore, which also reads its configuration file."""
    return environment.get(f"AWS_ENDPOINT_URL_{service.upper()}") or environment.get("AWS_ENDPOINT_URL") or None
