"""The response object of one reply, from ``response.created`` to ``response.done``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from voiceagent.conversation.actions import ReplyEnded
from voiceagent.realtime import server_events as out
from voiceagent.realtime.server_events import ServerEvent
from voiceagent.realtime.session_config import SessionConfig, audio_output

_STATUS: dict[str, out.Status] = {
    "completed": "completed",
    "interrupted": "cancelled",
    "cancelled": "cancelled",
    "failed": "failed",
}


@dataclass(slots=True)
class Response:
    """What the client was told of a reply so far."""

    reply: int
    item: str
    previous: str | None
    conversation_id: str
    config: SessionConfig
    metadata: dict[str, str] | None = None
    text: str = ""
    samples: int = 0
    """Sent so far, at 24 kHz."""
    total: int = 0
    """Handed to playout so far."""
    whole_text: str | None = None
    """Set when nothing more will be handed to playout."""
    audio_done: bool = False
    ended: ReplyEnded | None = None
    trouble: tuple[str, str] | None = None
    """Code and message of what went wrong."""
    cancel_asked: bool = False
    """The client asked to stop it."""

    @property
    def id(self) -> str:
        """The response's id on the wire."""
        return f"resp_{self.reply}"

    def begin(self) -> list[ServerEvent]:
        """The response, its item and its one audio part come into being."""
        item = out.message_item(self.item, "assistant", [], "in_progress")
        return [
            out.response_event("created", self._object("in_progress", None, [])),
            out.output_item("added", self.id, item),
            out.item_event("added", item, self.previous),
            out.content_part("added", self.id, self.item, ""),
        ]

    def audio_sent(self) -> list[ServerEvent]:
        """The end of the audio, once the last of what was handed to playout is sent."""
        if self.whole_text is None or not 0 < self.total <= self.samples:
            return []
        return self.finish_audio(self.whole_text)

    def finish_audio(self, text: str) -> list[ServerEvent]:
        """All that will be sent was sent; once."""
        if self.audio_done:
            return []
        self.audio_done = True
        return [
            out.audio_done(self.id, self.item),
            out.transcript_done(self.id, self.item, text),
            out.content_part("done", self.id, self.item, text),
        ]

    def end(self, action: ReplyEnded) -> list[ServerEvent]:
        """The reply is over. Of one that was cut short, the item keeps only what was heard."""
        self.ended = action
        status = _STATUS[action.status]
        whole = status == "completed"
        content = out.spoken_content("assistant", action.text if whole else action.heard)
        item = out.message_item(
            self.item, "assistant", content, "completed" if whole else "incomplete"
        )
        return [
            *self.finish_audio(action.text),
            out.item_event("done", item, self.previous),
            out.output_item("done", self.id, item),
            out.response_event("done", self._object(status, self._details(status), [item])),
        ]

    def _details(self, status: str) -> dict[str, Any] | None:
        if status == "cancelled":
            reason = "client_cancelled" if self.cancel_asked else "turn_detected"
            return {"type": status, "reason": reason}
        if status == "failed":
            code, message = self.trouble or ("failed", "The response failed.")
            error = {"type": "server_error", "code": code, "message": message}
            return {"type": status, "error": error}
        return None

    def _usage(self) -> dict[str, Any] | None:
        """The tokens of the language model, where somebody counted: a guess would look like it."""
        if self.ended is None or self.ended.usage is None:
            return None
        prompt, cached, answer = self.ended.usage
        return {
            "total_tokens": prompt + answer,
            "input_tokens": prompt,
            "output_tokens": answer,
            "input_token_details": {
                "text_tokens": prompt,
                "audio_tokens": 0,
                "cached_tokens": cached,
            },
            "output_token_details": {"text_tokens": answer, "audio_tokens": 0},
        }

    def _object(
        self, status: str, details: dict[str, Any] | None, output: list[dict[str, Any]]
    ) -> dict[str, Any]:
        voice = audio_output()
        return {
            "id": self.id,
            "object": "realtime.response",
            "status": status,
            "status_details": details,
            "output": output,
            "conversation_id": self.conversation_id,
            "output_modalities": ["audio"],
            "max_output_tokens": self.config.max_output_tokens,
            "audio": {"output": {"format": voice["format"], "voice": voice["voice"]}},
            "usage": self._usage(),
            "metadata": self.metadata,
        }
