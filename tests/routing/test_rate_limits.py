"""Rate limits in the headers of each provider, and the forms in which they write a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.providers import provider
from routing.rate_limits import RateLimits, Window, parse_reset, read_limits

NOW = 1_790_000_000.0
MONTH = 31 * 86_400


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2m59.56s", 179.56),
        ("7.66s", 7.66),
        ("120ms", 0.12),
        ("1h2m3s", 3723),
        ("4h17m", 15_420),
        ("1d", 86_400),
        ("0s", 0),
        (" 12S ", 12),
        ("11.382867", 11.382867),
        ("33011", 33_011),
        ("-3", 0),
        (str(int(NOW) + 41), 41),
        (str(int(NOW + 41) * 1000), 41),
        (str(int(NOW) - 41), 0),
        ("9e8", MONTH),
        ("999d", MONTH),
        (None, None),
        ("", None),
        ("soon", None),
        ("2m59.56", None),
        ("1s later", None),
        ("nan", None),
        ("inf", None),
        ("9" * 50, None),
    ],
)
def test_reset_formats(text: str | None, seconds: float | None) -> None:
    assert parse_reset(text, NOW) == (None if seconds is None else pytest.approx(seconds))


@given(st.text(max_size=50) | st.from_regex(r"[0-9.]{1,5}(ms|s|m|h|d)?[0-9a-z.]{0,9}"))
def test_no_text_gives_more_than_a_month_or_less_than_nothing(text: str) -> None:
    seconds = parse_reset(text, NOW)
    assert seconds is None or 0 <= seconds <= MONTH


@given(st.integers(0, 30), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59_999))
def test_a_duration_is_the_sum_of_its_parts(day: int, hour: int, minute: int, ms: int) -> None:
    text = f"{day}d{hour}h{minute}m{ms / 1000}s"
    assert parse_reset(text, NOW) == pytest.approx(
        ((day * 24 + hour) * 60 + minute) * 60 + ms / 1e3
    )


GROQ = {
    "x-ratelimit-limit-requests": "14400",
    "x-ratelimit-limit-tokens": "18000",
    "x-ratelimit-remaining-requests": "14370",
    "x-ratelimit-remaining-tokens": "0",
    "x-ratelimit-reset-requests": "2m59.56s",
    "x-ratelimit-reset-tokens": "7.66s",
}
CEREBRAS = {
    "x-ratelimit-limit-requests-day": "1000000000",
    "x-ratelimit-remaining-requests-day": "0",
    "x-ratelimit-reset-requests-day": "33011.382867",
    "x-ratelimit-limit-tokens-minute": "60000",
    "x-ratelimit-remaining-tokens-minute": "0",
    "x-ratelimit-reset-tokens-minute": "11.5",
}
SAMBANOVA = {
    "date": "Wed, 21 Oct 2026 07:28:00 GMT",
    "x-ratelimit-limit-requests": "240",
    "x-ratelimit-remaining-requests": "239",
    "x-ratelimit-reset-requests": "1792567720",
    "x-ratelimit-reset-requests-day": "4h17m",
}


@pytest.mark.parametrize(
    ("name", "headers", "windows", "exhausted_for"),
    [
        (
            "groq",
            GROQ,
            (("requests", "day", 14400, 14370, 179.56), ("tokens", "minute", 18000, 0, 7.66)),
            7.66,
        ),
        (
            "cerebras",
            CEREBRAS,
            (
                ("requests", "day", 1_000_000_000, 0, 33011.382867),
                ("tokens", "minute", 60000, 0, 11.5),
            ),
            33011.382867,
        ),
        (
            "sambanova",
            SAMBANOVA,  # a date: 40 s after the answer's own
            (("requests", "minute", 240, 239, 40), ("requests", "day", None, None, 15420)),
            None,
        ),
        ("gpu", GROQ, (("requests", None, 14400, 14370, 179.56),), 7.66),
    ],
)
def test_headers_of_each_provider(
    name: str,
    headers: dict[str, str],
    windows: tuple[tuple[str, str | None, int | None, int | None, float], ...],
    exhausted_for: float | None,
) -> None:
    limits = provider(name).dialect.limits(headers)
    assert limits is not None
    for counted, period, limit, remaining, reset in windows:
        window = limits.find(counted, period)  # type: ignore[arg-type]
        assert window is not None
        assert (window.limit, window.remaining) == (limit, remaining)
        assert window.reset_s == pytest.approx(reset)
    assert limits.exhausted_for_s == pytest.approx(exhausted_for)


def test_the_names_of_one_provider_mean_nothing_to_another() -> None:
    assert provider("cerebras").dialect.limits(GROQ) is None
    assert provider("groq").dialect.limits(CEREBRAS) is None


@pytest.mark.parametrize("value", ["", "-1", "many", "1.5", "9" * 20, "²"])
def test_a_count_that_is_none(value: str) -> None:
    headers = {"x-ratelimit-limit-tokens": value, "x-ratelimit-reset-tokens": "1s"}
    assert read_limits(headers) == RateLimits((Window(counted="tokens", reset_s=1.0),))
    assert read_limits({"x-ratelimit-limit-tokens": value}) is None


def test_a_spent_limit_without_a_time_says_nothing_of_when() -> None:
    assert RateLimits((Window(counted="tokens", remaining=0),)).exhausted_for_s is None
