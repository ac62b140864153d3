"""Prometheus metrics: requests by outcome, latencies, subscriptions, sockets, document cache and log position."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from ugs_schema.compiler.executor import OperationExecutor

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics(Collector):
    """The metrics of one gateway, in a registry of their own."""

    def __init__(self, operations: OperationExecutor, position: Callable[[], int]) -> None:
        self.registry = CollectorRegistry()
        self._requests = dict.fromkeys(("ok", "errors", "refused"), 0)
        self._within, self._seconds = [0] * (len(BUCKETS) + 1), 0.0
        self._subscriptions = Gauge("ugs_subscriptions", "Subscriptions under way", registry=self.registry)
        self._sockets = Gauge("ugs_sockets", "WebSockets that are open", registry=self.registry)
        self.registry.register(self)
        self.registry.register(_ScrapedValues(operations, position))

    def count_request(self, outcome: str, seconds: float) -> None:
        """Count one request."""
        # Plain counters, converted when scraped: everything runs in the event loop's thread, so no lock is needed.
        self._requests[outcome] += 1
        self._within[bisect_left(BUCKETS, seconds)] += 1
        self._seconds += seconds

    def collect(self) -> Iterable[Metric]:
        """Request counters and latency histogram."""
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
        """Count a subscription while the block runs."""
        with self._subscriptions.track_inprogress():
            yield

    @contextmanager
    def socket(self) -> Iterator[None]:
        """Count a socket while the block runs."""
        with self._sockets.track_inprogress():
            yield

    def page(self) -> bytes:
        """All metrics in the Prometheus text format."""
        return generate_latest(self.registry)


class _ScrapedValues(Collector):
    """Values that other objects hold, read when metrics are scraped."""

    def __init__(self, operations: OperationExecutor, position: Callable[[], int]) -> None:
        self.operations, self.position = operations, position

    def collect(self) -> Iterable[Metric]:
        yield GaugeMetricFamily("ugs_events_position", "The last event of the log", self.position())
        yield GaugeMetricFamily("ugs_documents", "Documents kept parsed and checked", self.operations.documents)
        looked = CounterMetricFamily("ugs_document_lookups", "Documents looked up", labels=["found"])
        looked.add_metric(["yes"], self.operations.hits)
        looked.add_metric(["no"], self.operations.misses)
        yield looked
