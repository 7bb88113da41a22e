"""The official Python client, unchanged, on the real server with scripted models."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from openai import AsyncOpenAI
from openai.resources.realtime.realtime import AsyncRealtimeConnection

from tests.kit.live_server import HZ, Live, live_server
from tests.kit.scripted import clip

CLIP = "cards_001.wav"
ANSWER = "Forty nine."


@contextlib.asynccontextmanager
async def official(live: Live, api_key: str = "x") -> AsyncIterator[AsyncRealtimeConnection]:
    client = AsyncOpenAI(base_url=f"http://{live.address}/v1", api_key=api_key)
    async with client.realtime.connect(model="voiceagent") as connection:
        yield connection
    await client.close()


async def until(connection: AsyncRealtimeConnection, kind: str, within: float = 10.0) -> list[Any]:
    """Everything up to the first event of this type."""
    seen: list[Any] = []
    async with asyncio.timeout(within):
        while not seen or seen[-1].type != kind:
            seen.append(await connection.recv())
    return seen


async def speak(
    connection: AsyncRealtimeConnection, pcm: NDArray[np.int16], pace: float = 1.0
) -> None:
    for start in range(0, len(pcm), 960):
        audio = base64.b64encode(pcm[start : start + 960].astype("<i2").tobytes()).decode()
        await connection.input_audio_buffer.append(audio=audio)
        await asyncio.sleep(960 / HZ / pace)


def audio_of(events: list[Any]) -> int:
    """Samples of the audio in these events."""
    deltas = [event.delta for event in events if event.type == "response.output_audio.delta"]
    return sum(len(base64.b64decode(delta)) // 2 for delta in deltas)


async def test_connect_update_and_a_typed_turn() -> None:
    async with live_server(answers=[[(0.02, ANSWER)]]) as live, official(live) as client:
        (created,) = await until(client, "session.created")
        assert created.session.model == "voiceagent"
        await client.session.update(session={"type": "realtime", "instructions": "Be brief."})
        updated = (await until(client, "session.updated"))[-1]
        assert updated.session.instructions == "Be brief."
        item: Any = {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "What do I owe?"}],
        }
        await client.conversation.item.create(item=item)
        await client.response.create()
        events = await until(client, "response.done")
        assert events[-1].response.status == "completed"
        assert events[-1].response.output[0].content[0].transcript == ANSWER
        assert audio_of(events) > HZ // 4
        request = live.model.requests[-1]
        assert request.messages[0] == {"role": "system", "content": "Be brief."}
        assert request.messages[-1] == {"role": "user", "content": "What do I owe?"}
        await client.conversation.item.retrieve(item_id=events[-1].response.output[0].id)
        retrieved = (await until(client, "conversation.item.retrieved"))[-1]
        assert retrieved.item.content[0].transcript == ANSWER


async def test_a_spoken_turn() -> None:
    async with live_server(answers=[[(0.02, ANSWER)]]) as live, official(live) as client:
        speaking = asyncio.create_task(
            speak(client, np.concatenate([clip(CLIP), np.zeros(3 * HZ, np.int16)]))
        )
        events = await until(client, "response.done", within=20)
        speaking.cancel()
        kinds = [event.type for event in events]
        turn = [
            "input_audio_buffer.speech_started",
            "input_audio_buffer.speech_stopped",
            "input_audio_buffer.committed",
            "conversation.item.added",
            "conversation.item.done",
            "conversation.item.input_audio_transcription.completed",
            "response.created",
            "response.output_item.added",
            "conversation.item.added",
            "response.content_part.added",
        ]
        assert kinds[: len(turn) + 1] == ["session.created", *turn]
        by_kind = {event.type: event for event in events}
        completed = by_kind["conversation.item.input_audio_transcription.completed"]
        assert completed.transcript == "what is my balance"
        spoken = "".join(
            event.delta
            for event in events
            if event.type == "response.output_audio_transcript.delta"
        )
        assert spoken == ANSWER
        started = by_kind["input_audio_buffer.speech_started"].audio_start_ms
        stopped = by_kind["input_audio_buffer.speech_stopped"].audio_end_ms
        assert 0 < started < stopped < len(clip(CLIP)) * 1_000 // HZ + 100
        assert audio_of(events) > HZ // 2


async def test_a_barge_in_stops_the_answer_and_truncate_corrects_the_history() -> None:
    long = "This is a long answer that goes on for many seconds, until somebody speaks over it."
    async with (
        live_server(texts=["stop please"], answers=[[(0.02, long)], [(0.02, "Yes.")]]) as live,
        official(live) as client,
    ):
        item: Any = {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Tell me."}],
        }
        await client.conversation.item.create(item=item)
        await client.response.create()
        before = await until(client, "response.output_audio.delta")
        answer = before[-1].item_id
        speech = np.concatenate([clip(CLIP), np.zeros(2 * HZ, np.int16)])
        speaking = asyncio.create_task(speak(client, speech))
        during = await until(client, "response.done", within=20)
        assert during[-1].response.status == "cancelled"
        assert during[-1].response.status_details.reason == "turn_detected"
        assert "input_audio_buffer.speech_started" in [event.type for event in during]
        sent_ms = audio_of(before + during) * 1_000 // HZ
        assert sent_ms < 4_000  # of about five seconds
        await client.conversation.item.truncate(
            item_id=answer, content_index=0, audio_end_ms=sent_ms + 85
        )
        truncated = (await until(client, "conversation.item.truncated"))[-1]
        assert truncated.audio_end_ms == sent_ms  # T23: clamped to what was sent
        await until(client, "response.done", within=20)
        speaking.cancel()
        heard = live.model.requests[-1].messages[-2]
        assert heard["role"] == "assistant"
        assert long.startswith(heard["content"])
        assert 0 < len(heard["content"]) < len(long)


async def test_d05_manual_turns_commit_only_when_the_client_does() -> None:
    async with live_server() as live, official(live) as client:
        await client.session.update(
            session={"type": "realtime", "audio": {"input": {"turn_detection": None}}}
        )
        await until(client, "session.updated")
        await client.input_audio_buffer.commit()
        error = (await until(client, "error"))[-1].error
        assert error.code == "input_audio_buffer_commit_empty"
        await speak(client, clip(CLIP), pace=8)
        await speak(client, np.zeros(2 * HZ, np.int16), pace=8)  # longer than any hold
        await client.input_audio_buffer.commit()
        await client.response.create()
        events = await until(client, "response.done")
        kinds = [event.type for event in events]
        assert kinds[0] == "input_audio_buffer.committed"
        assert "input_audio_buffer.speech_started" not in kinds
        assert kinds.count("response.created") == 1
        assert events[-1].response.status == "completed"
        assert len(live.recogniser.calls) == 1


async def test_cancel_and_the_exact_codes_of_refused_requests() -> None:
    slow = [[(0.05, "One. "), (30.0, "Two.")]]
    async with live_server(answers=slow) as live, official(live) as client:
        await client.response.cancel(event_id="too_early")
        error = (await until(client, "error"))[-1].error
        assert (error.code, error.event_id) == ("response_cancel_not_active", "too_early")
        await client.response.create()
        await until(client, "response.created")
        await client.response.create(event_id="second")
        error = (await until(client, "error"))[-1].error
        assert error.code == "conversation_already_has_active_response"
        assert error.event_id == "second"
        await client.response.cancel()
        done = (await until(client, "response.done"))[-1]
        assert done.response.status == "cancelled"
        assert done.response.status_details.reason == "client_cancelled"
        assert live.model.open_streams == 0
