"""The script of one simulated answer: tokens on a schedule, in a provider's shape, with a fault."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

from tests.kit.llm_script import DONE, Cut, Head, Script, Send, Step, Wait, event, reply
from tests.kit.provider_twin.faults import Fault
from tests.kit.provider_twin.profiles import Profile, Taken

ANSWER = (
    "Your boiler is a Hartwell two thousand, and its yearly service is due next Tuesday. In June "
    "the technician found the pressure low, raised it and replaced a worn valve seal. The "
    "warranty covers parts until March, so the visit costs only the labour, about forty nine "
    "dollars. Shall I book the morning visit for you, or would the afternoon suit you better?"
)
_BURST = 8


def tokens_of(text: str) -> list[str]:
    """The twin's tokens: words, each with the space before it."""
    return re.findall(r"\s*\S+\s*$|\s*\S+", text)


def still_to_say(profile: Profile, body: dict[str, Any], answer: str) -> str:
    """What of the answer is missing, when the conversation ends with some words of it.

    That is the last message, where this provider goes on with it, or the last but one, where the
    user then asks to go on.
    """
    messages = body.get("messages") or [{}]
    last = messages[-1]
    if last.get("role") == "assistant":
        asked = body.get("continue_final_message") and body.get("add_generation_prompt") is False
        if profile.continues == "never" or (profile.continues == "when asked" and not asked):
            return answer
    elif len(messages) > 1:
        last = messages[-2]
    said = last.get("content") if last.get("role") == "assistant" else None
    begun = isinstance(said, str) and answer.startswith(said.rstrip())
    return answer[len(said.rstrip()) :] if isinstance(said, str) and begun else answer


def script_of(
    profile: Profile, fault: Fault | None, body: dict[str, Any], answer: str, dice: random.Random
) -> Script:
    """The whole answer to a request, as ``LlmTwin`` plays it."""
    if fault is not None and fault.kind == "status":
        return _refusal(profile, fault)
    tokens = tokens_of(answer)
    allowed = body.get("max_completion_tokens") or body.get("max_tokens") or len(tokens)
    reason = "stop" if len(tokens) <= allowed else "length"
    tokens = tokens[:allowed] if fault is None or fault.kind != "empty" else []
    first = profile.first_s * _factor(profile, dice)
    first += fault.seconds if fault is not None and fault.kind == "late" else 0.0
    gaps = [0.0, *(_gap(profile, dice) for _ in tokens[1:])]
    prompt = sum(len(str(m.get("content") or "")) for m in body.get("messages") or ()) // 4
    taken = Taken(prompt, len(tokens), first, sum(gaps))
    steps: list[Step] = [_head(profile), _chunk(body, profile.role), Wait(first)]
    whole = (len(tokens), len(tokens))  # a fault may still come after the last token
    for begin, end in [*_chunks(len(tokens), profile.tokens_per_chunk, fault), whole]:
        if fault is not None and fault.breaks_at == begin:
            steps += _broken(profile, fault)
            if fault.kind in ("cut_after", "error_in_stream"):
                return steps
        if begin < end:
            running = _running(body, taken.prompt, end)
            steps.append(Wait(sum(gaps[begin:end])))
            steps.append(_chunk(body, {"content": "".join(tokens[begin:end])}, **running))
    return [*steps, *_end(profile, body, reason, taken)]


def _chunks(count: int, size: int, fault: Fault | None) -> list[tuple[int, int]]:
    """Which tokens come together; a fault always falls between two chunks."""
    breaks_at = fault.breaks_at if fault is not None else None
    spans: list[tuple[int, int]] = []
    begin = 0
    while begin < count:
        end = min(begin + size, count)
        if breaks_at is not None and begin < breaks_at < end:
            end = breaks_at
        spans.append((begin, end))
        begin = end
    return spans


def _end(profile: Profile, body: dict[str, Any], reason: str, taken: Taken) -> list[Step]:
    told = {"usage": taken.usage() | profile.usage_fields(taken)} | profile.event_fields(taken)
    asked = (body.get("stream_options") or {}).get("include_usage")
    finish = profile.finish_fields(taken) | (told if profile.usage_with_finish else {})
    steps: list[Step] = [_chunk(body, {}, reason, **finish)]
    if asked and not profile.usage_with_finish:
        steps.append(event(_envelope(body) | {"choices": []} | told))
    return [*steps, DONE]


def _broken(profile: Profile, fault: Fault) -> Sequence[Step]:
    match fault.kind:
        case "stall_after":
            return [Wait(fault.seconds)]
        case "garbage":
            return [Send(b'data: {"choices":[{"delta":{"content":"lo\n\n')]
        case "error_in_stream":
            return [event(profile.error_body(500))]
        case _:
            return [Cut()]


def _refusal(profile: Profile, fault: Fault) -> Script:
    headers = dict(profile.spent_headers if fault.spent else profile.headers)
    if fault.seconds:
        headers["retry-after"] = f"{fault.seconds:g}"
    body = profile.error_body(fault.status, spent=fault.spent)
    return reply(fault.status, body, **headers)


def _head(profile: Profile) -> Head:
    return Head(headers=(("Content-Type", "text/event-stream"), *profile.headers.items()))


def _envelope(body: dict[str, Any]) -> dict[str, Any]:
    kind = "chat.completion.chunk"
    return {"id": "chatcmpl-simulated", "object": kind, "created": 0, "model": body.get("model")}


def _chunk(
    body: dict[str, Any], delta: dict[str, Any], reason: str | None = None, **more: Any
) -> Send:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return event(_envelope(body) | {"choices": [choice]} | more)


def _running(body: dict[str, Any], prompt: int, completion: int) -> dict[str, Any]:
    if not (body.get("stream_options") or {}).get("continuous_usage_stats"):
        return {}
    return {"usage": {"prompt_tokens": prompt, "completion_tokens": completion}}


def _factor(profile: Profile, dice: random.Random) -> float:
    return dice.lognormvariate(0.0, profile.jitter) if profile.jitter else 1.0


def _gap(profile: Profile, dice: random.Random) -> float:
    burst = _BURST if dice.random() < profile.bursts else 1
    return burst * _factor(profile, dice) / profile.tokens_per_s
