"""Which addresses the web is at: an address of this machine or of a network of one's own is nothing to be fetched."""

from __future__ import annotations

import ipaddress

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_TRANSLATED = ipaddress.IPv6Network("64:ff9b:1::/48")


def is_public(address: str) -> bool:
    """Whether an address is one of the internet; what hides an IPv4 address in an IPv6 one is judged by that."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        hidden = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo or (None, None))[1]
        if parsed in _NAT64:
            hidden = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if hidden is not None:
            return is_public(str(hidden))
        if parsed in _TRANSLATED or parsed.is_site_local:
            return False
        if int(parsed) >> 32 == 0:  # ::a.b.c.d, of old
            return False
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved
