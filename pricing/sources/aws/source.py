"""Amazon Web Services: on demand, reserved, spot, Savings Plans and capacity blocks.

Each service needs a permission of its own; one that is refused is a gap, but for the price list, without which nothing is
read. Without credentials the public bulk price list is read instead, on demand and reserved only.
docs/price-sources-aws.md says how a rate comes about and lists the permissions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from threading import Lock
from typing import Any

from costcalc.offers import Gap, Offer
from pricing.packaged.machine_facts import packaged_machines
from pricing.sources.aws.account import Account, NotOffered, Unreachable, unknown_gap
from pricing.sources.aws.listing import straightened
from pricing.sources.aws.offers import Seen
from pricing.sources.common.http import Http, HttpError
from pricing.sources.source import (
    Collected,
    CredentialsMissing,
    Environment,
    NotAllowed,
    SchemaChanged,
    SourceError,
    SourceSetting,
    SourceSpec,
    separated,
)

# Regions that every account has; others must be opted into (docs.aws.amazon.com, "AWS Regions").
REGIONS = (
    "us-east-1,us-east-2,us-west-1,us-west-2,ca-central-1,sa-east-1,eu-central-1,eu-north-1,eu-west-1,eu-west-2,eu-west-3,"
    "ap-northeast-1,ap-northeast-2,ap-northeast-3,ap-south-1,ap-southeast-1,ap-southeast-2"
)
BULK_REGIONS = "us-east-1,us-west-2,eu-west-1"  # each a file of some hundred MB
READ_SECONDS = SourceSetting(
    "COSTCALC_AWS_READ_SECONDS", "how many seconds one read may stall; each call is tried four times", "10"
)
BULK_ADDRESS = SourceSetting(
    "COSTCALC_AWS_BULK_URL",
    "base URL of the public price list, read where there are no credentials",
    "https://pricing.us-east-1.amazonaws.com",
)
ONLY_REGIONS = SourceSetting(
    "COSTCALC_AWS_REGIONS",
    "regions to collect, separated by commas; unset: the price list of all, the other services in the 17 that every account has",
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
    ONLY_REGIONS,
    BULK_ADDRESS,
    READ_SECONDS,
)
SESSION_ARGUMENTS = {
    "aws_access_key_id": "AWS_ACCESS_KEY_ID",
    "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY",
    "aws_session_token": "AWS_SESSION_TOKEN",
    "profile_name": "AWS_PROFILE",
}
ATTEMPTS = 4
CONNECT_SECONDS = 4
CONNECTIONS = 16
MOST_PAGES = 2000
NO_CREDENTIALS = (
    "spot, Savings Plans and capacity blocks: no AWS credentials; "
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
)

EXPIRED = {"ExpiredToken", "ExpiredTokenException", "RequestExpired"}
DENIED = {
    "403",
    "AccessDenied",
    "AccessDeniedException",
    "AuthorizationError",
    "OptInRequired",
    "UnauthorizedOperation",
}
UNKNOWN = {"404", "InvalidAction", "NotFound", "NotYetImplemented", "UnknownOperation", "UnknownOperationException"}
INVALID = {
    "AuthFailure",
    "IncompleteSignature",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "MissingAuthenticationToken",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
NOT_OFFERED = {
    "InvalidInstanceType",
    "InvalidParameterCombination",
    "InvalidParameterValue",
    "Unsupported",
    "UnsupportedOperation",
}
SILENT = {"ConnectTimeoutError", "EndpointConnectionError", "ReadTimeoutError"}
BROKEN = {
    "ConnectTimeoutError": "cannot be reached",
    "EndpointConnectionError": "cannot be reached",
    "ReadTimeoutError": "stopped answering",
    "ConnectionClosedError": "broke off its answer",
    "IncompleteReadError": "broke off its answer",
}


class Aws:
    """The source: by the account's own calls if there are credentials, else from the public price list."""

    def __init__(self, environment: Environment, http: Http) -> None:
        self._environment, self._http = environment, http

    def collect(self, now: datetime) -> Collected:
        """Every rate the account may see. Raises SourceError if on-demand prices cannot be had."""
        calls = open_calls(self._environment)
        if calls is None:
            return self._public(now)
        only = separated(ONLY_REGIONS.read(self._environment))
        return Account(calls, packaged_machines("aws"), separated(REGIONS), only).collect(now)

    def _public(self, now: datetime) -> Collected:
        offers: list[Offer] = []
        faults, unknown = [], set()
        for region in separated(ONLY_REGIONS.read(self._environment) or BULK_REGIONS):
            try:
                found, strangers = self._public_region(region, now)
            except (HttpError, SourceError) as error:
                faults.append(Gap("aws", f"public price list of {region}: {error}"))
            else:
                offers += found
                unknown |= strangers
        if not offers:
            raise SourceError("; ".join(fault.reason for fault in faults))
        kept, left_out = straightened(offers)
        gaps = (Gap("aws", NO_CREDENTIALS), *left_out, *unknown_gap(unknown))
        return Collected(kept, gaps, tuple(faults))

    def _public_region(self, region: str, now: datetime) -> tuple[tuple[Offer, ...], set[str]]:
        from pricing.sources.aws.bulk import SOURCE, bulk_offers, bulk_url

        url = bulk_url(BULK_ADDRESS.read(self._environment), region)
        with self._http.stream(url) as stream:
            return bulk_offers(stream, region, packaged_machines("aws").get, Seen(SOURCE, now))


class Calls:
    """AWS's services by page, with errors in our words. Clients are shared by threads, as botocore allows."""

    def __init__(self, session: Any, environment: Environment, config: Any) -> None:
        self._session, self._environment, self._config = session, environment, config
        self._clients: dict[tuple[str, str], Any] = {}
        self._lock = Lock()

    def items(self, permission: str, region: str, listed: str, arguments: Mapping[str, Any]) -> Iterator[Any]:
        """Every item under `listed` in all pages of one call, such as `pricing:GetProducts`, whose pages may be empty.

        Raises CredentialsMissing, Unreachable, NotOffered or another SourceError; no message carries what AWS said,
        which may name the account.
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

    def _page(self, permission: str, region: str, listed: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """One page, asked for once more if it breaks off: botocore takes half a body for a whole one."""
        try:
            return self._answer(permission, region, listed, arguments)
        except SchemaChanged:
            return self._answer(permission, region, listed, arguments)

    def _answer(self, permission: str, region: str, listed: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
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


def open_calls(environment: Environment) -> Calls | None:
    """The account's calls, or None without credentials. A plain-http price list is called unsigned if there are none.

    Raises CredentialsMissing for half a key or a profile that does not exist.
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
    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=float(READ_SECONDS.read(environment)),
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        max_pool_connections=CONNECTIONS,
        **({} if signed else {"signature_version": UNSIGNED}),
    )
    return Calls(session, environment, config)


@contextmanager
def _in_our_words(permission: str) -> Iterator[None]:
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.parsers import ResponseParserError

    try:
        yield
    except ClientError as error:
        raise _refusal(permission, re.sub(r"\W", "", error.response["Error"].get("Code", ""))[:60]) from None
    except ResponseParserError:
        raise SchemaChanged(f"{permission} answered something unreadable") from None
    except BotoCoreError as error:
        raise _failure(permission, type(error).__name__) from None


def _refusal(permission: str, code: str) -> SourceError:
    if code in EXPIRED:
        return CredentialsMissing(
            f"the AWS credentials have expired ({code}): sign in again, or set a new AWS_SESSION_TOKEN"
        )
    if code in INVALID:
        return CredentialsMissing(
            f"AWS does not accept the credentials for {permission} ({code}): check AWS_ACCESS_KEY_ID"
        )
    if code in DENIED:
        return NotAllowed(f"the AWS account may not call {permission} ({code}): allow it in IAM")
    if code in UNKNOWN:
        return NotAllowed(f"{permission} is not there ({code})")
    kind = NotOffered if code in NOT_OFFERED else SourceError
    return kind(f"{permission} answered {code or 'an error'}")


def _failure(permission: str, kind: str) -> SourceError:
    if kind in ("PartialCredentialsError", "ProfileNotFound", "NoCredentialsError", "CredentialRetrievalError"):
        return CredentialsMissing(
            f"{permission}: {kind}; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
        )
    reason = f"{permission} {BROKEN.get(kind, f'failed: {kind}')}"
    return Unreachable(reason) if kind in SILENT else SourceError(reason)


def _endpoint(environment: Environment, service: str) -> str | None:
    """None leaves the choice to botocore, which also reads its configuration file."""
    return environment.get(f"AWS_ENDPOINT_URL_{service.upper()}") or environment.get("AWS_ENDPOINT_URL") or None


SPEC = SourceSpec(
    name="aws",
    label="Amazon Web Services",
    build=Aws,
    rates="on demand, spot, reserved, Savings Plans and capacity blocks",
    needs="pricing:GetProducts, ec2:DescribeInstanceTypes, ec2:DescribeSpotPriceHistory, "
    "ec2:DescribeCapacityBlockOfferings and savingsplans:DescribeSavingsPlansOfferingRates; without credentials the public "
    "price list, on demand and reserved only",
    cannot_see="negotiated discounts, reservations resold on the marketplace, Local Zones, China, GovCloud, free capacity",
    settings=SETTINGS,
)
