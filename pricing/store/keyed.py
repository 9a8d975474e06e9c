"""What stands in the store in place of a token or a name: a digest under the store's random key, which opens nothing."""

from hashlib import blake2b

TOKEN, NAME = b"token", b"name"


def keyed(key: bytes, kind: bytes, value: bytes) -> str:
    """The digest of a value of this kind, in hexadecimal."""
    return blake2b(value, key=key, person=kind, digest_size=32).hexdigest()
