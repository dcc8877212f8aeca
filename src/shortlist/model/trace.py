"""What follows one publication through everything: its trace id."""

import hashlib
import re

TRACEPARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?"
)
"""W3C Trace Context: version, trace, parent, flags; later versions may say more behind them."""


def trace_id(source: str, id: str, traceparent: object = None) -> str:
    """The trace that the publisher says it belongs to (the CloudEvents extension `traceparent`),
    else one that everybody can work out.

    >>> trace_id("cinema", "n1", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    '0af7651916cd43dd8448eb211c80319c'
    >>> trace_id("cinema", "n1", "nonsense") == trace_id("cinema", "n1")
    True
    >>> trace_id("cinema", "n1")
    'efba9bbcbcd8593244a24aba8dab49b9'
    """
    found = TRACEPARENT.fullmatch(traceparent) if isinstance(traceparent, str) else None
    if found is not None:
        return found[1]
    return hashlib.sha256(f"{source}\0{id}".encode()).hexdigest()[:32]
