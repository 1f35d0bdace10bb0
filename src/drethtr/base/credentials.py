"""Names, passwords and signatures in addresses: only the server may see them, never messages, locks or records."""

import re

LOGIN = re.compile(r"(?<=://)(?:[^\s/\"]*|[^\s/\"@:\[]+:(?!\d*(?:[/?#\s\"]|$))(?:(?!://)[^\s\"]){0,200})@")
"""`user:password@` in an address, even if the password has characters that should be encoded, such as a slash.

A password with a slash follows a colon that does not begin a port. Its length is bounded, since some texts would
otherwise take quadratic time.
"""

SECRET = re.compile(
    r"(?i)([?&][^\s=&#?\"]*(?:password|passwd|pwd|secret|token|signature|credential|sig|auth|(?:api|access)_?key)=)[^\s&#\"]+"
)
"""A query parameter that grants access, as in signed URLs, and its value; not a plain `key`, by which some libraries
number their pages."""


def without_credentials(text: str) -> str:
    """A text or JSON whose addresses, such as `s3://…`, grant no access: without logins, other secrets as `…`."""
    return SECRET.sub(r"\1…", LOGIN.sub("", text)) if "://" in text else text
