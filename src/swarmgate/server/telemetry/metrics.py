"""Counts and measures of one server, as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """The metrics of one application; two in one process do not share theirs.

    Attributes:
        requests: by method, route (its template, so that no id makes a new row) and status.
        seconds: from the first byte of a request to the last of its answer, by route; of a stream, to its end.
        streams: open event streams, by kind (sse, websocket).
        events: of the feed, by source.
        lag: seconds from an event's own time until the feed had it.
        notices: sent, by kind and outcome.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self.requests = Counter(
            "swarmgate_http_requests", "Requests answered", ("method", "route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "swarmgate_http_request_seconds", "Time of a request", ("route",), buckets=_SECONDS, registry=self.registry
        )
        self.streams = Gauge("swarmgate_streams_open", "Open event streams", ("kind",), registry=self.registry)
        self.events = Counter("swarmgate_events", "Events of the feed", ("source",), registry=self.registry)
        self.lag = Histogram(
            "swarmgate_event_lag_seconds",
            "Age of an event when the feed had it",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.notices = Counter("swarmgate_notices", "Notices sent", ("kind", "outcome"), registry=self.registry)

    def measure(self, name: str, text: str, label: str, read: Callable[[], Mapping[str, float]]) -> None:
        """Adds a gauge that is read when somebody asks, a row for each key of what is read.

        Args:
            name: of the gauge, without the prefix.
            text: what it says.
            label: the name of what the keys are.
            read: gives the values; it does not block.
        """
        self.registry.register(_Read(f"swarmgate_{name}", text, label, read))

    def text(self) -> bytes:
        """All of them, in the text format."""
        return generate_latest(self.registry)


class _Read(Collector):
    def __init__(self, name: str, text: str, label: str, read: Callable[[], Mapping[str, float]]) -> None:
        self._name, self._text, self._label, self._read = name, text, label, read

    def collect(self) -> Iterable[GaugeMetricFamily]:
        family = GaugeMetricFamily(self._name, self._text, labels=[self._label])
        for key, value in self._read().items():
            family.add_metric([key], value)
        yield family
