"""What the gateway tells administrators of itself by GraphQL: settings, tenants, the end of its log."""

from __future__ import annotations

from collections.abc import Sequence

import ugs
from ugs_gateway.observability.redaction import mask_value, without_secrets
from ugs_gateway.observability.structured_logs import TAIL
from ugs_gateway.settings import SETTINGS, Settings
from ugs_gateway.tenants import Tenants
from ugs_schema.viewer import SettingState, TenantState


class GatewaySelfReport:
    """Reads everything at the moment it is asked; costs nothing otherwise."""

    version = ugs.__version__

    def __init__(self, current: Settings, places: Tenants) -> None:
        self._settings, self._tenants = current, places

    def settings(self) -> Sequence[SettingState]:
        """All settings, in the order of the documentation; passwords in URLs are masked."""
        return [
            SettingState(name, mask_value(getattr(self._settings, name)), self._settings.origin(name), setting.meaning)
            for name, setting in SETTINGS.items()
        ]

    def tenants(self) -> Sequence[TenantState]:
        """The open stores."""
        return [
            TenantState(name, without_secrets(system.storage.describe()), system.bus.position)
            for name, system in self._tenants.open_systems.items()
        ]

    def log_lines(self, last: int) -> Sequence[str]:
        """The end of the log of this process."""
        return TAIL.last(last)
