"""Prometheus metrics: requests by outcome, latencies, subscriptions, sockets, document cache and log position.

They are those of all worker processes of the gateway, whichever of them is asked.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from ugs.storage.read_position import ReplicaStatus
from ugs_gateway.observability.counters import BUCKETS, Column, Counters
from ugs_schema.compiler.executor import OperationExecutor

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OUTCOMES = {"ok": Column.OK, "errors": Column.ERRORS, "refused": Column.REFUSED}
DELIVERIES = {
    "delivered": Column.WEBHOOKS_DELIVERED,
    "failed": Column.WEBHOOKS_FAILED,
    "dead": Column.WEBHOOKS_DEAD,
}
BOUNDS = [*(str(float(bound)) for bound in BUCKETS), "+Inf"]


class Metrics(Collector):
    """The metrics of one gateway, in a registry of their own."""

    def __init__(
        self,
        operations: OperationExecutor,
        position: Callable[[], int],
        counters: Counters | None = None,
        replicas: Callable[[], Sequence[ReplicaStatus]] = tuple,
    ) -> None:
        self.counters = counters or Counters.private()
        self._own = self.counters.own
        self._operations, self._position, self._replicas = operations, position, replicas
        self._hits_before = self._own[Column.LOOKUPS_HIT]
        self._misses_before = self._own[Column.LOOKUPS_MISSED]
        self.registry = CollectorRegistry()
        self.registry.register(self)

    def count_request(self, outcome: str, seconds: float) -> None:
        """Count one request."""
        # Plain numbers, converted when scraped: everything runs in the event loop's thread, so no lock is needed.
        own = self._own
        own[OUTCOMES[outcome]] += 1
        own[Column.FIRST_BUCKET + bisect_left(BUCKETS, seconds)] += 1
        own[Column.SECONDS] += seconds

    def count_delivery(self, outcome: str) -> None:
        """Count one try to deliver a webhook, or an event that was given up."""
        self._own[DELIVERIES[outcome]] += 1

    def publish(self) -> None:
        """Copy what other objects count into the row of this worker, where the others see it."""
        own, operations = self._own, self._operations
        own[Column.LOOKUPS_HIT] = self._hits_before + operations.hits
        own[Column.LOOKUPS_MISSED] = self._misses_before + operations.misses
        own[Column.DOCUMENTS] = operations.documents
        own[Column.POSITION] = self._position()

    def collect(self) -> Iterable[Metric]:
        """All metrics, summed over the workers; the position is that of the worker that has seen most."""
        self.publish()
        total = self.counters.total
        requests = CounterMetricFamily("ugs_requests", "GraphQL requests by outcome", labels=["outcome"])
        for outcome, column in OUTCOMES.items():
            requests.add_metric([outcome], total(column))
        yield requests
        within = accumulate(total(Column.FIRST_BUCKET + bucket) for bucket in range(len(BOUNDS)))
        yield HistogramMetricFamily(
            "ugs_request_seconds",
            "How long GraphQL requests took",
            buckets=list(zip(BOUNDS, within, strict=True)),
            sum_value=total(Column.SECONDS),
        )
        yield GaugeMetricFamily("ugs_subscriptions", "Subscriptions under way", total(Column.SUBSCRIPTIONS))
        yield GaugeMetricFamily("ugs_sockets", "WebSockets that are open", total(Column.SOCKETS))
        position = self.counters.greatest(Column.POSITION)
        yield GaugeMetricFamily("ugs_events_position", "The last event of the log", position)
        yield GaugeMetricFamily("ugs_documents", "Documents kept parsed and checked", total(Column.DOCUMENTS))
        looked = CounterMetricFamily("ugs_document_lookups", "Documents looked up", labels=["found"])
        looked.add_metric(["yes"], total(Column.LOOKUPS_HIT))
        looked.add_metric(["no"], total(Column.LOOKUPS_MISSED))
        yield looked
        delivered = CounterMetricFamily("ugs_webhook_deliveries", "Tries to deliver webhooks", labels=["outcome"])
        for outcome, column in DELIVERIES.items():
            delivered.add_metric([outcome], total(column))
        yield delivered
        yield from self._replica_metrics()

    def _replica_metrics(self) -> Iterator[Metric]:
        """How far the replicas lag, as the worker that is asked sees it."""
        lag = GaugeMetricFamily("ugs_replica_lag_events", "Events that a replica lacks", labels=["replica"])
        reachable = GaugeMetricFamily("ugs_replica_reachable", "Whether a replica answers", labels=["replica"])
        for replica in self._replicas():
            lag.add_metric([replica.name], replica.lag)
            reachable.add_metric([replica.name], replica.is_reachable)
        yield lag
        yield reachable

    @contextmanager
    def subscription(self) -> Iterator[None]:
        """Count a subscription while the block runs."""
        with self._held(Column.SUBSCRIPTIONS):
            yield

    @contextmanager
    def socket(self) -> Iterator[None]:
        """Count a socket while the block runs."""
        with self._held(Column.SOCKETS):
            yield

    @contextmanager
    def _held(self, gauge: Column) -> Iterator[None]:
        self._own[gauge] += 1
        try:
            yield
        finally:
            self._own[gauge] -= 1

    def page(self) -> bytes:
        """All metrics in the Prometheus text format."""
        return generate_latest(self.registry)
