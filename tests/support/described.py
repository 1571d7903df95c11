"""Whether an answer is what stands beside its request."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from siftd.wire.requests import Request, answer_type


def expect_described(request: Request[Any], answer: dict[str, Any]) -> None:
    """Fail unless the answer has every key that its type says, each of its type, and no other."""
    wrong = differences(answer, answer_type(type(request)), type(request).__name__)
    assert not wrong, wrong


def differences(value: Any, kind: Any, at: str) -> list[str]:
    """Return where a value of JSON is not of a type, and how."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return []
    if origin is NotRequired:
        return differences(value, arguments[0], at)
    if origin in (Union, UnionType):
        each = [differences(value, one, at) for one in arguments]
        return min(each, key=len)
    if origin is Literal:
        return [] if value in arguments else [f"{at} is {value!r}"]
    if is_typeddict(kind):
        if not isinstance(value, dict):
            return [f"{at} is a {type(value).__name__}"]
        hints = get_type_hints(kind, include_extras=True)  # `__required_keys__` cannot read annotations that are texts
        required = {name for name, hint in hints.items() if get_origin(hint) is not NotRequired}
        wrong = [f"{at}.{name} is missing" for name in required - value.keys()]
        wrong += [f"{at}.{name} is not described" for name in value.keys() - hints.keys()]
        known = value.keys() & hints.keys()
        return wrong + [each for name in known for each in differences(value[name], hints[name], f"{at}.{name}")]
    if origin is list and isinstance(value, list):
        return [each for one in value for each in differences(one, arguments[0], f"{at}[]")]
    if origin is tuple and isinstance(value, list):
        pairs = zip(value, arguments, strict=True)
        return [each for one, kind_ in pairs for each in differences(one, kind_, f"{at}[]")]
    if origin is dict and isinstance(value, dict):
        return [each for name in value for each in differences(value[name], arguments[1], f"{at}.{name}")]
    wanted = (int, float) if kind is float else origin or (NoneType if kind is None else kind)
    is_of_it = isinstance(value, wanted) and (kind is bool or not isinstance(value, bool))
    return [] if is_of_it else [f"{at} is a {type(value).__name__}, not {kind}"]
