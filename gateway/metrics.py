"""Numbers for Prometheus: what was asked and how it went, how long it took, and where the log stands."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from schema.operations import Operations

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics(Collector):
    """One gateway's numbers, in a registry of their own."""

    def __init__(self, operations: Operations, position: Callable[[], int]) -> None:
        self.registry = CollectorRegistry()
        self._requests = dict.fromkeys(("ok", "errors", "refused"), 0)
        self._within, self._seconds = [0] * (len(BUCKETS) + 1), 0.0
        self._subscriptions = Gauge("ugs_subscriptions", "Subscriptions under way", registry=self.registry)
        self._sockets = Gauge("ugs_sockets", "WebSockets that are open", registry=self.registry)
        self.registry.register(self)
        self.registry.register(_Standing(operations, position))

    def served(self, outcome: str, seconds: float) -> None:
        """One request was answered."""
        # Counted here and shown when asked for: all of it happens in one thread, so nothing needs a lock.
        self._requests[outcome] += 1
        self._within[bisect_left(BUCKETS, seconds)] += 1
        self._seconds += seconds

    def collect(self) -> Iterable[Metric]:
        """The requests so far."""
        requests = CounterMetricFamily("ugs_requests", "GraphQL requests by outcome", labels=["outcome"])
        for outcome, count in self._requests.items():
            requests.add_metric([outcome], count)
        yield requests
        bounds = [*(str(float(bound)) for bound in BUCKETS), "+Inf"]
        buckets = list(zip(bounds, accumulate(self._within), strict=True))
        yield HistogramMetricFamily(
            "ugs_request_seconds", "How long GraphQL requests took", buckets=buckets, sum_value=self._seconds
        )

    @contextmanager
    def subscription(self) -> Iterator[None]:
        """Counts a subscription as long as it lasts."""
        with self._subscriptions.track_inprogress():
            yield

    @contextmanager
    def socket(self) -> Iterator[None]:
        """Counts a socket as long as it is open."""
        with self._sockets.track_inprogress():
            yield

    def page(self) -> bytes:
        """Everything, in the text format of Prometheus."""
        return generate_latest(self.registry)


class _Standing(Collector):
    """What is known elsewhere and only looked at when somebody asks."""

    def __init__(self, operations: Operations, position: Callable[[], int]) -> None:
        self.operations, self.position = operations, position

    def collect(self) -> Iterable[Metric]:
        yield GaugeMetricFamily("ugs_events_position", "The last event of the log", self.position())
        yield GaugeMetricFamily("ugs_documents", "Documents kept parsed and checked", self.operations.documents)
        looked = CounterMetricFamily("ugs_document_lookups", "Documents looked up", labels=["found"])
        looked.add_metric(["yes"], self.operations.hits)
        looked.add_metric(["no"], self.operations.misses)
        yield looked
