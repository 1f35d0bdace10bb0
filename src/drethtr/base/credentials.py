"""Names, passwords and signatures in addresses: for the server that is asked, not for messages, locks and records."""

import re

LOGIN = re.compile(r"(?<=://)(?:[^\s/\"]*|[^\s/\"@:\[]+:(?!\d*(?:[/?#\s\"]|$))(?:(?!://)[^\s\"]){0,200})@")
"""`user:password@` of an address, also if the password has characters that should be encoded, such as a slash.

A password with a slash follows a colon that begins no port. Its length is bounded, or some texts took quadratic time.
"""

SECRET = re.compile(
    r"(?i)([?&][^\s=&#?\"]*(?:password|passwd|pwd|secret|token|signature|credential|sig|auth|(?:api|access)_?key)=)[^\s&#\"]+"
)
"""A query parameter that grants access, as in signed URLs, and its value; not a plain `key`, by which some libraries
number their pages."""


def without_credentials(text: str) -> str:
    """A text, JSON too, with addresses such as `s3://…` that open nothing: logins are removed, other secrets `…`."""
    return SECRET.sub(r"\1…", LOGIN.sub("", text)) if "://" in text else text
