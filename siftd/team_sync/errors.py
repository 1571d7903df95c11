"""Why a team's server gave no answer, in the ways that the laptop reacts to."""

from __future__ import annotations

from siftd.errors import SiftdError


class TeamError(SiftdError):
    """Anything that went wrong with a team's server."""

    code = "team_error"


class TeamAway(TeamError):
    """It cannot be asked now: wait, `after_seconds` where it said how long."""

    code = "team_away"

    def __init__(self, message: str, *, hint: str = "", after_seconds: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.after_seconds = after_seconds


class TeamDenied(TeamError):
    """The token is none any more, or its person is no member: a person has to join again."""

    code = "team_denied"

    def __init__(self, message: str, *, hint: str = "", is_no_member: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.is_no_member = is_no_member


class TeamReadOnly(TeamError):
    """This person may only read in the project."""

    code = "team_read_only"


class TeamOtherEpoch(TeamError):
    """Its database is another one than was known: it was restored."""

    code = "team_other_epoch"


class TeamOtherVersion(TeamError):
    """It speaks no version of the protocol that this siftd does."""

    code = "team_other_version"


class TeamTooLarge(TeamError):
    """What was sent, or what was asked for, is too large: try less at once."""

    code = "team_too_large"


class TeamRefused(TeamError):
    """It does not do what was asked, whoever asks: it does not understand it, or an invitation was used before."""

    code = "team_refused"


class HomeCopied(Exception):
    """Another store speaks under this one's name: this home was copied, or is the copy."""
