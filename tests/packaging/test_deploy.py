"""deploy/: the dashboard, alerts, unit and chart name only what the gateway has, and pass the linters that are there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.routing import Route

from tests.servers.places import PROJECT
from ugs.storage.read_position import ReplicaStatus
from ugs_gateway.app import create_app
from ugs_gateway.observability.metrics import Metrics
from ugs_gateway.settings import Settings, load_settings
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor

DEPLOY = PROJECT / "deploy"
CHART = DEPLOY / "helm" / "ugs-gateway"
METRIC = re.compile(r"\bugs_[a-z_]+")
LABEL = re.compile(r'(outcome|found)="(\w+)"')
VALUE = re.compile(r"\.Values((?:\.\w+)+)")


@pytest.fixture(scope="module")
def page() -> str:
    """`/metrics` with everything that there can be."""
    replica = ReplicaStatus("db2:5432", 1, 0, True)
    return Metrics(OperationExecutor(build_schema()), lambda: 1, None, lambda: [replica]).page().decode()


def check_expressions(expressions: list[str], page: str) -> None:
    known = set(re.findall(r"^(ugs_\w+)", page, re.MULTILINE))
    labels = set(LABEL.findall(page))
    assert expressions
    for expression in expressions:
        assert set(METRIC.findall(expression)) <= known, expression
        assert set(LABEL.findall(expression)) <= labels, expression
        assert expression.count("(") == expression.count(")"), expression


def test_the_dashboard_shows_metrics_that_there_are(page: str) -> None:
    board = json.loads((DEPLOY / "grafana.json").read_text())
    check_expressions([target["expr"] for panel in board["panels"] for target in panel["targets"]], page)
    shown = {
        name for panel in board["panels"] for target in panel["targets"] for name in METRIC.findall(target["expr"])
    }
    families = set(re.findall(r"^# TYPE (\w+)", page, re.MULTILINE)) - {"ugs_documents"}
    assert {re.sub("_(total|bucket)$", "", name) for name in shown} == {
        re.sub("_total$", "", name) for name in families
    }
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]]
    assert len(set(places)) == len(places) == len({panel["id"] for panel in board["panels"]})


def test_the_alerts_watch_metrics_that_there_are(page: str) -> None:
    rules = [
        rule
        for group in yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text())["groups"]
        for rule in group["rules"]
    ]
    check_expressions([rule["expr"] for rule in rules], page)
    for rule in rules:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["annotations"]["summary"] and rule["labels"]["severity"] in ("warning", "critical")


def test_the_unit_is_one(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is missing: it checks the unit")
    text = (DEPLOY / "systemd/ugs-gateway.service").read_text()
    (tmp_path / "ugs").write_text("#!/bin/sh\n")
    (tmp_path / "ugs").chmod(0o755)
    unit = tmp_path / "ugs-gateway.service"
    unit.write_text(text.replace("/opt/ugs-gateway/bin/ugs", str(tmp_path / "ugs")))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    ours = [line for line in done.stderr.splitlines() if "ugs-gateway.service" in line]
    assert ours == [], done.stderr
    seconds = int(re.findall(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)[0])
    assert seconds > Settings().drain_seconds


def test_the_chart_uses_all_its_values_and_no_others() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    templates = "\n".join(path.read_text() for path in sorted((CHART / "templates").iterdir()))
    used = {tuple(name.strip(".").split(".")) for name in VALUE.findall(templates)}
    for name in used:
        found: Any = values
        for part in name:
            assert part in found, f"values.yaml has no {'.'.join(name)}"
            found = found[part]
    assert {name[0] for name in used} == set(values)
    assert yaml.safe_load((CHART / "Chart.yaml").read_text())["name"] == CHART.name


def test_the_chart_sets_what_the_gateway_knows_and_asks_where_it_answers() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    environment = {f"UGS_{name.upper()}": value for name, value in values["settings"].items()}
    settings = load_settings({}, {**environment, "UGS_STORE": "postgresql://db/graph"})
    assert settings.has_login and values["terminationGracePeriodSeconds"] > settings.drain_seconds
    text = (CHART / "templates/deployment.yaml").read_text()
    routes = {route.path for route in create_app(Settings(store="memory:")).routes if isinstance(route, Route)}
    assert set(re.findall(r"path: (/\w+)", text)) == {"/readyz", "/livez"} <= routes


@pytest.mark.skipif(shutil.which("helm") is None, reason="helm is missing: it checks the chart")
@pytest.mark.parametrize("given", [[], ["--set", "persistence.enabled=true,replicas=1"]])
def test_the_chart_passes_its_linter_and_renders(given: list[str]) -> None:
    done = subprocess.run(["helm", "lint", "--strict", str(CHART), *given], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    made = subprocess.run(["helm", "template", "x", str(CHART), *given], capture_output=True, text=True, check=True)
    kinds = [one["kind"] for one in yaml.safe_load_all(made.stdout)]
    assert kinds.count("Deployment") == kinds.count("Service") == 1
    assert ("PersistentVolumeClaim" in kinds) == bool(given)
