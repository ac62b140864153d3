"""How quickly Studio draws, in Chromium without a graphics card: `python -m bench.studio`.

The time until the first picture of a graph of 2,000 nodes and 5,000 edges, frames a second while that picture is moved
and zoomed by mouse and wheel, the time from the search to the canvas in a store of 100,000 nodes, and from a stop of
the time slider to the graph of that moment in a store of files with 200,000 events, by the clock of the page.

Here the processor draws what a graphics card would. So two figures stand beside the frames: how many an empty canvas of
the same size has on this machine, which nothing in the page can exceed, and the processor time that the page itself
spends on a frame. The report is in `build/bench/studio.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct

from bench.targets import Verdict, check_at_least, check_at_most
from tests.gateway.browser import Page, browsing
from tests.gateway.processes import Gateway, serving

REPORT = Path("build/bench/studio.json")
ROWS_PER_IMPORT = 4_000
EVENTS_PER_BATCH = 500
SLIDER_NODES = 400
"""As many as the page draws of one moment, or fewer."""
CHANGE = "mutation($operations: [BatchOperation!]!) { applyBatch(operations: $operations) { deletedIds } }"
IMPORT = "mutation($graph: JSON!) { importGraph(graph: $graph) { nodes } }"
FIRST_PICTURE_SECONDS, FRAMES_PER_SECOND, SEARCH_SECONDS, STOP_SECONDS = 2.0, 30.0, 1.0, 0.3
MILLISECONDS_PER_FRAME = 1000 / FRAMES_PER_SECOND
LAYOUT_DONE = "window.settledAt !== undefined && performance.now() - window.settledAt > 1500"

WATCH = """
(() => {
  const wanted = %d;
  const look = () => {
    const view = window.studioCanvas;
    if (!view || view.scene.graph.size < wanted) return requestAnimationFrame(look);
    view.sigma.once('afterRender', () => { window.firstPicture = performance.now(); });
    view.sigma.on('afterRender', () => { window.settledAt = performance.now(); });
    view.sigma.scheduleRender();
  };
  look();
})();
"""
MOVE = """
void new Promise((done) => {
  const { sigma } = window.studioCanvas;
  const mouse = sigma.getCanvases().mouse;
  const { left, top, width, height } = mouse.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  const point = (kind, clientX, clientY, more = {}) =>
    new (kind === 'wheel' ? WheelEvent : MouseEvent)(kind,
      { clientX, clientY, button: 0, bubbles: true, cancelable: true, ...more });
  let drawn = 0;
  let turns = 0;
  window.drawnPerSecond = undefined;
  const count = () => { drawn += 1; };
  sigma.on('afterRender', count);
  const start = performance.now();
  mouse.dispatchEvent(point('mousedown', x, y));
  const step = () => {
    const passed = (performance.now() - start) / 1000;
    if (passed >= %f) {
      document.dispatchEvent(point('mouseup', x, y));
      sigma.off('afterRender', count);
      [window.drawn, window.drawnPerSecond] = [drawn, drawn / passed];
      return done();
    }
    document.dispatchEvent(point('mousemove', x + 150 * Math.sin(passed), y + 100 * Math.cos(passed)));
    if ((turns += 1) %% 20 === 0) mouse.dispatchEvent(point('wheel', x, y, { deltaY: turns %% 40 ? 120 : -120 }));
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})
"""
SEARCH = """
(() => {
  const box = document.querySelector('input[type=search]');
  const start = performance.now();
  window.found = undefined;
  box.focus();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(box, %s);
  box.dispatchEvent(new Event('input', { bubbles: true }));
  const look = () => {
    if (window.studioCanvas?.placeOf(%s)) window.found = performance.now() - start;
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(() => {
    box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    look();
  });
})()
"""


STOP = """
(() => {
  const slider = document.querySelector('input[aria-label^="To: "]');
  const start = performance.now();
  window.stopped = undefined;
  slider.value = %d;
  slider.dispatchEvent(new Event('input', { bubbles: true }));
  const look = () => {
    const { shown } = document.querySelector('.time-panel').dataset;
    if (shown?.endsWith('-%d')) window.stopped = performance.now() - start;
    else requestAnimationFrame(look);
  };
  look();
})()
"""
HIDE = "studioCanvas.options.isShown = studioCanvas.options.isEdgeShown = () => false; studioCanvas.refresh()"


class Motion(Struct, frozen=True):
    """How a picture moved: frames a second, and the processor time of the page's main thread for each."""

    frames: float
    page_ms: float


class StudioFigures(Struct):
    """The medians of a run, in seconds, frames a second and milliseconds."""

    first_picture: float
    frames: float
    empty_frames: float
    """Frames of a canvas on which nothing is shown."""
    page_ms: float
    search: float
    stop: float
    """From a stop of the time slider to the graph of that moment; the slider waits 80 ms of it for the hand to rest."""
    cores: int
    load: float
    """How many processes wanted a core when the run began; more than none make the figures worse."""

    def verdicts(self) -> list[Verdict]:
        """Each figure beside what is wanted."""
        return [
            check_at_most("first picture, s", self.first_picture, FIRST_PICTURE_SECONDS),
            check_at_least(
                f"frames a second ({self.empty_frames:.0f} with nothing shown)", self.frames, FRAMES_PER_SECOND
            ),
            check_at_most("processor time of the page for a frame, ms", self.page_ms, MILLISECONDS_PER_FRAME),
            check_at_most("search to canvas, s", self.search, SEARCH_SECONDS),
            check_at_most("stop of the time slider, s", self.stop, STOP_SECONDS),
        ]


def graph_of(nodes: int, edges: int) -> Iterator[dict[str, list[dict[str, Any]]]]:
    """An invented graph, the same every time, in parts that fit a request."""
    random = Random(27)
    kinds = ("person", "task", "project", "note")
    for start in range(0, nodes, ROWS_PER_IMPORT):
        ids = range(start, min(start + ROWS_PER_IMPORT, nodes))
        yield {
            "nodes": [{"id": f"n{at}", "type": kinds[at % 4], "properties": {"name": f"Name {at}"}} for at in ids],
            "edges": [],
        }
    for start in range(0, edges, ROWS_PER_IMPORT):
        ids = range(start, min(start + ROWS_PER_IMPORT, edges))
        ends = {at: (random.randrange(nodes), int(nodes * random.random() ** 2)) for at in ids}
        yield {
            "nodes": [],
            "edges": [{"id": f"e{at}", "from": f"n{a}", "to": f"n{b}", "type": "knows"} for at, (a, b) in ends.items()],
        }


def load(gateway: Gateway, nodes: int, edges: int) -> None:
    for part in graph_of(nodes, edges):
        send(gateway, IMPORT, {"graph": part})


def send(gateway: Gateway, query: str, variables: dict[str, Any]) -> None:
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = urllib.request.Request(gateway.url + "/graphql", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        found = json.load(answer)
        assert "errors" not in found, found


def changes_of(events: int, nodes: int) -> Iterator[list[dict[str, Any]]]:
    """Changes of the nodes of `graph_of`, one event each, in batches."""
    random = Random(27)
    for start in range(0, events, EVENTS_PER_BATCH):
        ats = range(start, min(start + EVENTS_PER_BATCH, events))
        yield [{"updateNode": {"id": f"n{random.randrange(nodes)}", "properties": {"rank": at}}} for at in ats]


def measure_picture(page: Page, gateway: Gateway, edges: int, seconds: float) -> tuple[float, Motion, Motion]:
    """Seconds from the address to the first picture with everything, how it moves, and how an empty canvas does."""
    script = page.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH % edges)["identifier"]
    page.visit(f"{gateway.url}/#/explore?all=1")
    picture = page.wait_for("window.firstPicture") / 1000
    page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    page.wait_for(LAYOUT_DONE)
    moving = measure_motion(page, seconds)
    page.value(HIDE)
    return picture, moving, measure_motion(page, seconds)


def measure_motion(page: Page, seconds: float) -> Motion:
    before = task_seconds(page)
    page.value(MOVE % seconds)
    frames = page.wait_for("window.drawnPerSecond")
    return Motion(frames, (task_seconds(page) - before) * 1000 / page.value("window.drawn"))


def task_seconds(page: Page) -> float:
    """Processor time of the page's main thread so far."""
    found = page.call("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in found if metric["name"] == "TaskDuration"))


def measure_search(page: Page, gateway: Gateway, id: str) -> float:
    """Seconds from the words in the search to the node on the canvas."""
    page.visit(f"{gateway.url}/#/explore?nodes=n0")
    page.wait_for("!!window.studioCanvas?.placeOf('n0')")
    page.value(SEARCH % (json.dumps(f"Name {id[1:]}"), json.dumps(id)))
    return float(page.wait_for("window.found")) / 1000


def measure_stops(page: Page, gateway: Gateway, last: int, stops: int) -> list[float]:
    """Seconds from each stop of the slider, spread over the log, to the graph of that moment."""
    page.visit(f"{gateway.url}/#/time?from=0&to={last}")
    page.wait_for(f"document.querySelector('.time-panel')?.dataset.shown === '0-{last}'")
    found = []
    for place in Random(28).sample(range(1, last), stops):
        page.value(STOP % (place, place))
        found.append(float(page.wait_for("window.stopped")) / 1000)
    return found


def run(nodes: int, edges: int, store: int, events: int, repetitions: int, seconds: float) -> StudioFigures:
    busy = os.getloadavg()[0]
    options = ("--store", "memory:", "--max-body-bytes", str(8 << 20))
    pictures, moving, empty, searches = [], [], [], []
    with TemporaryDirectory() as place, browsing(Path(place) / "chromium") as page:
        page.open("about:blank")
        page.call("Performance.enable", timeDomain="threadTicks")
        with serving(Path(place), *options) as gateway:
            load(gateway, nodes, edges)
            for _ in range(repetitions):
                picture, shown, nothing = measure_picture(page, gateway, edges, seconds)
                pictures.append(picture)
                moving.append(shown)
                empty.append(nothing)
        with serving(Path(place), *options) as gateway:
            load(gateway, store, store)
            for at in range(repetitions):
                searches.append(measure_search(page, gateway, f"n{1 + at * (store - 2) // repetitions}"))
        with serving(Path(place), "--store", f"file:{place}/log", "--max-body-bytes", str(8 << 20)) as gateway:
            load(gateway, SLIDER_NODES, SLIDER_NODES)
            for operations in changes_of(events - 2 * SLIDER_NODES, SLIDER_NODES):
                send(gateway, CHANGE, {"operations": operations})
            stops = measure_stops(page, gateway, events, 3 * repetitions)
        page.leave()
    return StudioFigures(
        median(pictures),
        median(motion.frames for motion in moving),
        median(motion.frames for motion in empty),
        median(motion.page_ms for motion in moving),
        median(searches),
        median(stops),
        os.cpu_count() or 1,
        busy,
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.studio", description=__doc__)
    parser.add_argument("--nodes", type=int, default=2_000)
    parser.add_argument("--edges", type=int, default=5_000)
    parser.add_argument("--store", type=int, default=100_000, help="nodes of the store that is searched")
    parser.add_argument("--events", type=int, default=200_000, help="events of the log that is slid over")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0, help="how long the picture is moved each time")
    options = parser.parse_args(arguments)
    found = run(options.nodes, options.edges, options.store, options.events, options.repetitions, options.seconds)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    told = {name: getattr(found, name) for name in found.__struct_fields__}
    REPORT.write_text(json.dumps(told, indent=2) + "\n", "utf-8")
    for verdict in found.verdicts():
        print(f"{verdict.measured:>8}  {verdict.target}  {'met' if verdict.met else 'missed'}")
    print(f"{found.cores} cores, {found.load:.1f} processes wanted one when the run began; report: {REPORT}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
