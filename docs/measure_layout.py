"""Measure in Chromium how smoothly the layout screen of `drethtr edit` moves with 300 lines on a page.

The page is dragged, zoomed, lines are selected and a stroke is drawn, and the time between frames is taken, at 60 Hz.
Compare the frames of a page with 300 lines with those of one with 20, on the same machine in the same minute.

    python docs/measure_layout.py
"""

import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import typer
from playwright.sync_api import CDPSession, sync_playwright
from playwright.sync_api import Page as Tab
from served import CHROMIUM, served

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from edited_folders import put_full

FRAMES = 180
WATCH = """frames => new Promise((done) => {
    const times = [];
    const tick = (now) => {
        times.push(now);
        if (times.length > frames) done(times.slice(1).map((time, place) => time - times[place]));
        else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
})"""
DRAG = """([x, y]) => {
    const frame = document.querySelector(".frame");
    const send = (kind, dx, dy, button) => frame.dispatchEvent(new PointerEvent(kind,
        { clientX: x + dx, clientY: y + dy, button, pointerId: 1, bubbles: true }));
    frame.setPointerCapture = () => {};
    let step = 0;
    const button = window.button;
    send("pointerdown", 0, 0, button);
    const move = () => {
        if (++step > 170) return send("pointerup", 0, 0, button);
        send("pointermove", 200 * Math.sin(step / 20), 150 * Math.sin(step / 13), button);
        requestAnimationFrame(move);
    };
    move();
}"""


def frames(tab: Tab, button: int) -> list[float]:
    """The milliseconds between frames while a pointer is dragged over the scan, each frame a little."""
    tab.evaluate(f"window.button = {button}")
    box = tab.locator(".frame").bounding_box()
    assert box is not None
    tab.evaluate(DRAG, [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    found: list[float] = tab.evaluate(WATCH, FRAMES)
    return found


def busy(devtools: CDPSession) -> float:
    """The milliseconds of processor time that the main thread of the page has taken."""
    found = devtools.send("Performance.getMetrics")["metrics"]
    return 1000 * float(next(one["value"] for one in found if one["name"] == "TaskDuration"))


def main() -> None:
    """Print the median time between frames, the share of frames in time, and processor time of the page a frame."""
    with TemporaryDirectory() as parent, sync_playwright() as driver:
        for rows in (5, 75):
            put_full(Path(parent, "scans"), f"p{rows:02}", rows)
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        with served(Path(parent, "scans")) as (site, *_):
            tab = browser.new_page(viewport={"width": 1280, "height": 800})
            devtools = tab.context.new_cdp_session(tab)
            devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
            for page in tab.request.get(f"{site}/api/pages").json():
                tab.goto(f"{site}/p/{page['id']}/layout")
                tab.locator(".badge").first.wait_for()
                lines = tab.locator(".badge").count()
                for name, button, key in (("moved", 1, "v"), ("lasso", 0, "v"), ("order", 0, "o")):
                    tab.keyboard.press(key)
                    before = busy(devtools)
                    times = frames(tab, button)
                    work = (busy(devtools) - before) / len(times)
                    late = sum(time > 25 for time in times) / len(times)
                    typer.echo(
                        f"{lines} lines, {name}: {median(times):.1f} ms a frame, {1 - late:.0%} in time, "
                        f"{work:.1f} ms of processor time"
                    )
        browser.close()


if __name__ == "__main__":
    main()
