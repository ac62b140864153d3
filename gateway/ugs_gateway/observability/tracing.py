"""OpenTelemetry traces, if the extra `otel` is installed and an endpoint is set; otherwise a no-op."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from graphql import OperationDefinitionNode

import ugs
from ugs.errors import InvalidSyntax

NOTHING: AbstractContextManager[Any] = nullcontext()


class Tracing:
    """Opens a span around each operation."""

    def __init__(self, endpoint: str) -> None:
        self._provider = provider_for(endpoint) if endpoint else None
        self._tracer = self._provider.get_tracer("ugs", ugs.__version__) if self._provider else None

    @property
    def is_on(self) -> bool:
        """Whether traces are exported."""
        return self._tracer is not None

    def span(self, operation: OperationDefinitionNode | None) -> AbstractContextManager[Any]:
        """A span named after the operation, by the OpenTelemetry conventions for GraphQL servers."""
        if self._tracer is None or operation is None:
            return NOTHING
        kind, name = operation.operation.value, operation.name.value if operation.name else ""
        attributes = {"graphql.operation.type": kind, "graphql.operation.name": name}
        found: AbstractContextManager[Any] = self._tracer.start_as_current_span(
            f"{kind} {name}".strip(), attributes=attributes
        )
        return found

    def close(self) -> None:
        """Export the remaining spans."""
        if self._provider is not None:
            self._provider.shutdown()


def provider_for(endpoint: str, exporter: Callable[[str], Any] | None = None) -> Any:
    """A provider that exports spans in batches, in the background."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise InvalidSyntax("Traces need the extra otel: pip install 'ugs-gateway[otel]'") from error
    provider = TracerProvider(resource=Resource.create({"service.name": "ugs-gateway"}))
    make = exporter or (lambda address: OTLPSpanExporter(endpoint=f"{address.rstrip('/')}/v1/traces"))
    provider.add_span_processor(BatchSpanProcessor(make(endpoint)))
    return provider
