"""Who sent a webhook is known before anything of it is read."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest

from siftd.team.sources.signature import WINDOW_SECONDS, is_signed, secret_of, signature

SECRET = b"sixteen bytes or more of it"
OTHER = b"another one of thirty-two bytes!"
BODY = b'{"event":"issue:updated"}'
NOW = 1_795_946_400


def standard(secret: bytes = SECRET, at: int = NOW, body: bytes = BODY, name: str = "msg_1") -> dict[str, str]:
    signed = signature(secret, name, at, body)
    return {"webhook-id": name, "webhook-timestamp": str(at), "webhook-signature": signed}


def of_github(secret: bytes = SECRET, body: bytes = BODY) -> dict[str, str]:
    return {"x-hub-signature-256": "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()}


def test_both_forms_are_believed_of_whoever_knows_a_secret() -> None:
    assert is_signed(standard(), BODY, [SECRET], NOW)
    assert is_signed(of_github(), BODY, [SECRET], NOW)
    assert is_signed(standard(), BODY, [OTHER, SECRET], NOW)
    both = standard() | {"webhook-signature": f"v1,AAAA {signature(SECRET, 'msg_1', NOW, BODY)}"}
    assert is_signed(both, BODY, [SECRET], NOW)


def test_the_example_of_standard_webhooks_holds() -> None:
    """https://github.com/standard-webhooks/standard-webhooks, the specification's own values."""
    secret = secret_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    body = b'{"test": 2432232314}'
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    assert is_signed(headers, body, [secret], 1_614_265_330)


@pytest.mark.parametrize("off", [-WINDOW_SECONDS - 1, WINDOW_SECONDS + 1])
def test_a_message_of_another_time_is_nobodys(off: int) -> None:
    assert not is_signed(standard(at=NOW + off), BODY, [SECRET], NOW)
    assert is_signed(standard(at=NOW + (off + (1 if off < 0 else -1))), BODY, [SECRET], NOW)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        of_github(OTHER),
        of_github(body=BODY + b" "),
        {"x-hub-signature-256": ""},
        {"x-hub-signature-256": of_github()["x-hub-signature-256"].removeprefix("sha256=")},
        {"x-hub-signature-256": "sha256=é"},
        standard(OTHER),
        standard(body=b"{}"),
        standard() | {"webhook-timestamp": str(NOW + 1)},
        standard() | {"webhook-timestamp": "-1"},
        standard() | {"webhook-timestamp": "9" * 400},
        standard() | {"webhook-timestamp": "٣"},
        standard() | {"webhook-id": ""},
        standard() | {"webhook-id": "msg_2"},
        standard() | {"webhook-signature": ""},
        standard() | {"webhook-signature": "v1," + base64.b64encode(b"x" * 32).decode()},
        standard() | {"webhook-signature": " ".join(["v1,x"] * 9 + [signature(SECRET, "msg_1", NOW, BODY)])},
        # One that is signed as a Standard Webhook is not believed for the other form's sake.
        of_github() | {"webhook-signature": "v1,x"},
    ],
)
def test_nobody_else_is_believed(headers: dict[str, str]) -> None:
    assert not is_signed(headers, BODY, [SECRET], NOW)


def test_without_a_secret_or_with_a_short_one_nobody_is_believed() -> None:
    assert not is_signed(of_github(b""), BODY, [], NOW)
    assert not is_signed(of_github(b""), BODY, [b""], NOW)
    assert not is_signed(of_github(b"short"), BODY, [b"short"], NOW)
    assert not is_signed(standard(secret_of("whsec_!")), BODY, [secret_of("whsec_!")], NOW)
