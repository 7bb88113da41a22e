"""Every Prometheus metric of our own: its name, its help, its labels and its buckets."""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from voiceagent.metrics import buckets

NAMESPACE = "voiceagent"


class Instruments:
    """The metrics, registered at one registry. Labels are given in the order written here."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self._server()
        self._listener()
        self._stream()
        self._requests()

    def _server(self) -> None:
        self.ready = Gauge(
            "ready",
            "1 while conversations are taken.",
            namespace=NAMESPACE,
            registry=self._registry,
        )
        self.sessions_active = Gauge(
            "sessions_active", "Sessions now.", namespace=NAMESPACE, registry=self._registry
        )
        self.sessions = self._counter("sessions_total", "Sessions that began.")
        self.session = self._histogram(
            "session_seconds", "Length of sessions that ended.", buckets.SESSION
        )
        self.loop_lag = self._histogram(
            "event_loop_lag_seconds", "How late the event loop ran a timer.", buckets.LOOP_LAG
        )
        self.records_dropped = self._counter(
            "records_dropped_total", "Turn records that could not be stored."
        )
        self.unknown = self._counter(
            "unknown_total",
            "Values that could not be given, by metric and kind of reason; they have no sample.",
            ("metric", "reason_class"),
        )

    def _listener(self) -> None:
        self.turns = self._counter(
            "turns_total", "Turns that are over, by kind and status.", ("kind", "status")
        )
        self.turns_dropped = self._counter(
            "turns_dropped_total", "Turns of which nothing came, by reason.", ("reason",)
        )
        self.troubles = self._counter(
            "troubles_total", "Turns in which something went wrong, by code.", ("code",)
        )
        self.gap = self._histogram(
            "response_gap_seconds",
            "The user's last voiced sample to the agent's first audible one; an overlap is 0.",
            buckets.GAP,
            ("measured",),
        )
        self.gap_classes = self._counter(
            "response_gaps_total",
            "Spoken turns by how their response gap feels; one without an answer is broken.",
            ("class", "measured"),
        )
        self.gap_part = self._histogram(
            "response_gap_part_seconds",
            "What the response gap was made of, by part.",
            buckets.GAP_PART,
            ("part",),
        )
        self.gaps_unexplained = self._counter(
            "response_gaps_unexplained_total",
            "Response gaps whose parts differ from them by more than 20 ms.",
        )
        self.pause = self._histogram(
            "pause_seconds",
            "Silences heard inside the agent's turn.",
            buckets.PAUSE,
            ("place", "cause", "measured"),
        )
        self.pause_classes = self._counter(
            "pauses_total",
            "Silences heard inside the agent's turn, by how they are heard.",
            ("place", "cause", "class", "measured"),
        )
        self.speech = self._counter(
            "agent_speech_seconds_total", "Of the agent's voice that was heard."
        )
        self.underruns = self._counter(
            "underruns_total", "Times the player had nothing to play.", ("measured",)
        )
        self.stop = self._histogram(
            "barge_in_stop_seconds",
            "The user's onset to the last sample of the interrupted agent.",
            buckets.STOP,
            ("measured",),
        )
        self.stop_classes = self._counter(
            "barge_in_stops_total",
            "Interruptions by how soon the agent stopped.",
            ("class", "measured"),
        )
        self.false_stops = self._counter(
            "false_stops_total", "Stops for something that was then dropped."
        )

    def _stream(self) -> None:
        self.first_token = self._histogram(
            "first_token_seconds",
            "Request written to the first content that was used.",
            buckets.FIRST_TOKEN,
            ("backend",),
        )
        self.chunk_gap = self._histogram(
            "chunk_gap_seconds",
            "Time between two content chunks, however many tokens they hold.",
            buckets.CHUNK_GAP,
            ("backend",),
        )
        self.per_token = self._histogram(
            "time_per_output_token_seconds",
            "Time per token after the first chunk; measured where the server counted tokens.",
            buckets.PER_TOKEN,
            ("backend", "measured"),
        )
        self.evenness = self._histogram(
            "stream_evenness_ratio",
            "Evenness of the pace, 1 is perfectly even, Poisson arrivals have 0.5.",
            buckets.EVENNESS,
            ("backend", "measured"),
        )
        self.headroom = self._histogram(
            "headroom_seconds",
            "Predicted speech in hand that 95 % of a turn's chunks had; none left is 0.",
            buckets.HEADROOM,
            ("backend",),
        )
        self.predicted_underruns = self._counter(
            "predicted_underruns_total",
            "Underruns predicted from the arrival of text alone.",
            ("backend",),
        )

    def _requests(self) -> None:
        self.requests = self._counter(
            "requests_total", "Requests to backends.", ("backend", "purpose", "outcome")
        )
        self.tokens = self._counter(
            "tokens_total",
            "Tokens used, heard or not; measured where the server counted them.",
            ("backend", "direction", "measured"),
        )
        self.cost = self._counter(
            "cost_usd_total", "US dollars spent, heard or not.", ("backend", "measured")
        )
        self.turn_cost = self._histogram(
            "turn_cost_usd", "US dollars for all attempts at one turn's answer.", buckets.TURN_USD
        )

    def _counter(self, name: str, words: str, labels: Sequence[str] = ()) -> Counter:
        return Counter(name, words, labels, namespace=NAMESPACE, registry=self._registry)

    def _histogram(
        self, name: str, words: str, bounds: Sequence[float], labels: Sequence[str] = ()
    ) -> Histogram:
        return Histogram(
            name, words, labels, namespace=NAMESPACE, registry=self._registry, buckets=bounds
        )
