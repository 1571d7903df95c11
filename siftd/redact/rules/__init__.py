"""The table of rules: one row for each form of secret, a file for each family."""

from __future__ import annotations

from siftd.redact.rules.chat import CHAT
from siftd.redact.rules.cloud import CLOUD
from siftd.redact.rules.commerce import COMMERCE
from siftd.redact.rules.hosting import HOSTING
from siftd.redact.rules.infrastructure import INFRASTRUCTURE
from siftd.redact.rules.keys import KEYS
from siftd.redact.rules.logins import LOGINS
from siftd.redact.rules.models import MODELS
from siftd.redact.rules.row import LEFT, GroupName, Rule
from siftd.redact.rules.services import SERVICES
from siftd.redact.rules.shapes import SHAPES

__all__ = ["LEFT", "RULES", "GroupName", "Rule"]

RULES = (*KEYS, *CLOUD, *HOSTING, *MODELS, *CHAT, *COMMERCE, *INFRASTRUCTURE, *SERVICES, *LOGINS, *SHAPES)
"""Where two rows match at the same place, the earlier one wins."""
