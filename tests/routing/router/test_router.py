"""The router over real sockets, in virtual time: providers and their faults are simulated."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

import pytest

from routing.answer import Interrupted, RoutedAnswer
from routing.backend import Backend
from routing.candidate import Candidate, Cost, free
from routing.chunks import TextDelta
from routing.errors import BackendError
from routing.health import Pace
from routing.messages import ChatRequest
from routing.router import Router
from routing.spending import Budget, Spending
from tests.kit.provider_twin import (
    ANSWER,
    KEY,
    Fault,
    ProviderTwin,
    cut_after,
    empty,
    error_in_stream,
    garbage,
    late,
    refuse,
    stall_after,
    status,
)
from tests.kit.virtual_time import virtual

ASK = ChatRequest(messages=({"role": "user", "content": "When is my next visit?"},))


class Desk:
    """A router over twins, and what came of its answers."""

    def __init__(self, router: Router, twins: list[ProviderTwin]) -> None:
        self.router, self.twins = router, twins

    async def ask(self, *, call: str = "c", spoken: int = 40) -> str:
        """The whole answer, as a voice that was given at most ``spoken`` characters hears it."""
        text = ""
        async with self.router.answer(ASK, call=call) as answer:
            async for chunk in answer:
                if isinstance(chunk, TextDelta):
                    text += chunk.text
                    self._given(answer, text)
                elif isinstance(chunk, Interrupted):
                    text = text[: text.rfind(" ", 0, spoken) + 1]
                    answer.resume(text)
        return text

    @staticmethod
    def _given(answer: RoutedAnswer, text: str) -> None:
        if text.count(" ") == 3:
            answer.speech_until(Router.now_us() + 2_000_000)

    @property
    def asked(self) -> list[int]:
        return [len(twin.requests) for twin in self.twins]


@contextlib.asynccontextmanager
async def desk(
    *faults: Fault | None,
    profiles: tuple[str, ...] = ("groq", "cerebras", "gpu"),
    costs: tuple[Cost, ...] = (free, free, free),
    budget: Budget | None = None,
    repeats_prefix: bool = False,
) -> AsyncIterator[Desk]:
    """A router over as many twins as there are faults."""
    async with contextlib.AsyncExitStack() as stack:
        twins, candidates = [], []
        for profile, fault, cost in zip(profiles, faults, costs, strict=False):
            twin = ProviderTwin(profile, fault=fault, repeats_prefix=repeats_prefix)
            twins.append(await stack.enter_async_context(twin))
            config = twin.backend_config()
            backend = Backend(config, now_us=Router.now_us)
            stack.push_async_callback(backend.aclose)
            continues = config.abilities.continues
            candidates.append(Candidate(profile, backend, continues=continues, cost=cost))
        yield Desk(Router("interactive", candidates, spending=Spending(budget)), twins)


FAULTS = [
    status(429, retry_after=30),
    status(503),
    refuse,
    late(60),
    empty,
    error_in_stream(0),
    error_in_stream(20),
    cut_after(1),
    cut_after(20),
    stall_after(1, 60),
    stall_after(20, 60),
]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
@pytest.mark.parametrize("anew", [False, True], ids=["goes-on", "begins-anew"])
@virtual
async def test_l01_l02_l04_l05_any_fault_gives_one_whole_answer(fault: Fault, anew: bool) -> None:
    async with desk(fault, None, repeats_prefix=anew) as one:
        assert (await one.ask()).split() == ANSWER.split()
        assert one.asked[1] == 1
        (decision,) = one.router.decisions
        assert decision.backend == "cerebras"
        assert decision.outcome == "answered"


@virtual
async def test_l01_a_malformed_event_is_skipped_and_nobody_else_is_asked() -> None:
    async with desk(garbage(5), None) as one:
        assert (await one.ask()).split() == ANSWER.split()
        assert one.asked == [1, 0]


@virtual
async def test_l02_who_asked_for_rest_is_left_alone_for_as_long() -> None:
    async with desk(status(429, retry_after=30), None) as one:
        await one.ask()
        one.twins[0].fault = None
        await one.ask()
        assert one.asked == [1, 2]
        breaker = one.router.health("groq").breaker
        assert breaker.state(Router.now_us()) == "resting"
        await asyncio.sleep(30)
        assert breaker.state(Router.now_us()) == "trial"


@virtual
async def test_l06_when_all_fail_the_last_error_is_raised_at_once() -> None:
    async with desk(status(503), refuse, status(429, retry_after=5)) as one:
        began = asyncio.get_running_loop().time()
        with pytest.raises(BackendError) as raised:
            await one.ask()
        assert raised.value.kind == "rate_limited"
        assert asyncio.get_running_loop().time() - began < 1
        assert one.router.decisions[-1].outcome == "rate_limited"


@virtual
async def test_all_resting_means_the_least_bad_is_asked() -> None:
    async with desk(status(429, retry_after=60), status(429, retry_after=20)) as one:
        with pytest.raises(BackendError):
            await one.ask()
        for twin in one.twins:
            twin.fault = None
        assert (await one.ask()).split() == ANSWER.split()
        assert one.asked == [1, 2]


@virtual
async def test_l11_l12_leaving_closes_every_stream_within_100_ms() -> None:
    async with desk(stall_after(10, 60), late(60)) as one:
        async with one.router.answer(ASK) as answer:
            async for chunk in answer:
                if isinstance(chunk, TextDelta):
                    break
        began = asyncio.get_running_loop().time()
        await one.twins[0].requests[0].disconnected.wait()
        assert asyncio.get_running_loop().time() - began <= 0.1


@virtual
async def test_m01_a_cancelled_answer_leaves_no_time_but_is_counted() -> None:
    async with desk(None, None) as one:
        async with one.router.answer(ASK, call="c") as answer:
            async for chunk in answer:
                if isinstance(chunk, TextDelta):
                    break
        assert not one.router.health("groq").recent(Router.now_us())
        assert one.router.decisions[-1].outcome == "cancelled"
        (spent,) = one.router.spending.log
        assert (spent.outcome, spent.estimated) == ("cancelled", True)
        assert spent.completion_tokens >= 0


@virtual
async def test_m06_m07_the_time_is_from_the_request_to_speakable_text() -> None:
    async with desk(None, None) as one:
        await one.ask()
        (pace,) = one.router.health("groq").recent(Router.now_us())
        decision = one.router.decisions[-1]
        assert decision.first_content_ms is not None
        assert pace.first_speakable > decision.first_content_ms * 1_000
        assert decision.first_speakable_us == pytest.approx(pace.first_speakable, abs=1_000)


@virtual
async def test_everything_spent_is_counted_also_what_nobody_heard() -> None:
    dear: Cost = lambda prompt, _cached, completion: (prompt + completion) * 1e-3  # noqa: E731
    async with desk(cut_after(20), None, costs=(dear, dear)) as one:
        await one.ask(call="a call")
        log = list(one.router.spending.log)
        assert [(spent.purpose, spent.outcome) for spent in log] == [
            ("answer", "broken_stream"),
            ("handover", "answered"),
        ]
        assert all(spent.usd and spent.usd > 0 for spent in log)
        total = sum(spent.usd or 0.0 for spent in log)
        assert one.router.spending.of_call("a call") == pytest.approx(total)
        assert one.router.spending.of_call("another") == 0
        assert one.router.spending.totals["groq"]["unused_tokens"] > 0


@virtual
async def test_a_budget_degrades_to_the_cheaper_before_it_refuses() -> None:
    dear: Cost = lambda *_tokens: 1.0  # noqa: E731
    cheap: Cost = lambda *_tokens: 0.1  # noqa: E731
    async with desk(None, None, costs=(dear, cheap), budget=Budget(per_call_usd=1.25)) as one:
        one.router.health("cerebras").answered(_slow())
        await one.ask()
        await one.ask()  # 80 % is spent: the cheaper one first
        await one.ask()
        assert one.asked == [1, 2]
        with pytest.raises(BackendError) as raised:
            await one.ask()
        assert "budget" in str(raised.value)
        assert not raised.value.retryable
        assert (await one.ask(call="another call")).split() == ANSWER.split()


def _slow() -> Pace:
    return Pace(Router.now_us(), 900_000, 0, 50_000)


@virtual
async def test_a_late_first_content_is_hedged_and_the_quicker_is_heard_once() -> None:
    async with desk(late(5), None) as one:
        assert (await one.ask()).split() == ANSWER.split()
        decision = one.router.decisions[-1]
        assert decision.hedged
        assert decision.badge().startswith("cerebras · ")
        assert decision.badge().endswith(" · hedged")
        assert [attempt.outcome for attempt in decision.attempts] == ["cancelled", "answered"]


@virtual
async def test_no_key_is_in_a_log_an_error_or_a_decision(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with desk(status(401), refuse, status(503)) as one:
            with pytest.raises(BackendError) as raised:
                await one.ask()
            told = [str(raised.value), repr(raised.value), caplog.text]
            told += [str(decision.to_dict()) for decision in one.router.decisions]
            told += [repr(twin.backend_config()) for twin in one.twins]
            assert KEY in str(one.twins[0].requests[0].headers)
            assert not any(KEY in text for text in told)


@virtual
async def test_a_failure_that_another_made_good_counts_all_the_same() -> None:
    async with desk(cut_after(20), None) as one:
        assert (await one.ask()).split() == ANSWER.split()
        breaker = one.router.health("groq").breaker
        assert breaker.state(Router.now_us()) == "closed"
        breaker.failed(Router.now_us(), BackendError("timeout", "once more"))
        assert breaker.state(Router.now_us()) == "resting"


@virtual
async def test_who_never_begins_is_known_to_be_late() -> None:
    async with desk(late(60), None) as one:
        before = one.router.health("groq").figures(Router.now_us(), 450_000)
        await one.ask()
        after = one.router.health("groq").figures(Router.now_us(), 450_000)
        assert after.first_p95 > before.first_p95


@virtual
async def test_an_empty_answer_on_trial_does_not_shut_a_backend_out_for_good() -> None:
    async with desk(empty, None) as one:
        breaker = one.router.health("groq").breaker
        breaker.failed(Router.now_us() - 70_000_000, BackendError("refused", "gone"))
        await one.ask()
        assert breaker.state(Router.now_us() + 61_000_000) == "trial"


@virtual
async def test_who_refuses_costs_nothing() -> None:
    async with desk(refuse, None, costs=(lambda p, c, n: float(p + n),) * 3) as one:
        await one.ask()
        refused, answered = one.router.decisions[-1].spent
        assert (refused.usd, refused.prompt_tokens) == (0.0, 0)
        assert answered.usd > 0
