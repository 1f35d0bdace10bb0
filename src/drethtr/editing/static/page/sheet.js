// A scan in its frame, turned as its lines run: what of it is seen, by wheel, keys and buttons, and points on it.

import * as api from "../api.js";
import { html } from "../html.js";
import { turned, turning, unturned } from "../layout/geometry.js";
import { useEffect, useLayoutEffect, useReducer, useRef } from "../vendor/hooks.js";
import { boxOf } from "./places.js";
import { Viewport } from "./viewport.js";

const STEP = 60; // px by which an arrow key moves the scan
export const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const ZOOMS = { "+": 1.25, "=": 1.25, "-": 0.8, 0: null };

// What is seen of a page: `view` is its viewport, and all points are those of the scan as it lies.
export function useSheet(page, screen) {
  const frame = useRef();
  const view = useRef();
  const [, redraw] = useReducer((count) => count + 1, 0);
  const { quarters } = page;
  const size = quarters % 2 ? { width: page.height, height: page.width } : { width: page.width, height: page.height };

  useLayoutEffect(() => {
    const fitted = () => {
      const { clientWidth: width, clientHeight: height } = frame.current;
      view.current = new Viewport(size, { width, height }, screen);
      redraw();
    };
    const observer = new ResizeObserver(fitted);
    observer.observe(frame.current);
    fitted();
    return () => observer.disconnect();
  }, [page.id, page.width, page.height, quarters]);
  // Wheel events must be cancelled, which listeners that a framework adds may not do.
  useEffect(() => {
    const wheel = (event) => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) view.current.zoom(Math.exp(-event.deltaY / 400), ...inFrame(event));
      else view.current.pan(event.shiftKey ? event.deltaY : event.deltaX, event.shiftKey ? 0 : event.deltaY);
      redraw();
    };
    frame.current.addEventListener("wheel", wheel, { passive: false });
    return () => frame.current?.removeEventListener("wheel", wheel);
  }, []);

  const inFrame = ({ clientX, clientY }) => {
    const { left, top } = frame.current.getBoundingClientRect();
    return [clientX - left, clientY - top];
  };
  const clipped = ([x, y]) => [
    Math.round(Math.min(page.width - 1, Math.max(0, x))),
    Math.round(Math.min(page.height - 1, Math.max(0, y))),
  ];
  // Zooms by a factor, or fits the width.
  const zoom = (factor) => {
    if (factor) view.current.zoom(factor);
    else view.current.fit();
    redraw();
  };
  const boxOn = (points) => boxOf(points.map((point) => turned(point, quarters, page)));
  const pointAt = (place) => clipped(unturned(view.current.pointAt(...place), quarters, page));
  return {
    frame,
    view,
    redraw,
    size,
    inFrame,
    clipped,
    pointAt,
    // Brings points into view, and with them across, if there is room, all of `around`.
    show: (points, around) => view.current.show(boxOn(points), boxOn(around ?? points)),
    // Zooms to points; or, if it is there and `mayGoBack`, back to the whole width.
    closer: (points, mayGoBack) => {
      view.current.closer(boxOn(points), mayGoBack);
      redraw();
    },
    zoom,
    // Does what a key does on every scan; says whether it does anything.
    press: ({ key }) => {
      if (key in ZOOMS) zoom(ZOOMS[key]);
      else if (key in ARROWS) {
        const [x, y] = ARROWS[key];
        view.current.pan(STEP * x, STEP * y);
        redraw();
      } else return false;
      return true;
    },
  };
}

// Draws it; `children` lie over the image, and all else goes to the frame.
export function Sheet({ page, sheet, children, ...others }) {
  const { frame, view, size, zoom } = sheet;
  const { scale = 1, left = 0, top = 0 } = view.current ?? {};
  const placed = `translate(${-left}px, ${-top}px) scale(${scale})`;
  const upright = `${90 * page.quarters}deg`;
  return html`
    <section class="scan" aria-label="Scan">
      <div class="frame" ref=${frame} tabindex="0" role="group" ...${others}>
        <div class="sheet" style=${{ width: `${size.width}px`, height: `${size.height}px`, transform: placed, "--unit": 1 / scale, "--upright": upright }}>
          <div class="turned" style=${{ width: `${page.width}px`, height: `${page.height}px`, transform: turning(page.quarters, page) }}>
            <img src=${api.image(page.id)} alt="" draggable=${false} />
            ${children}
          </div>
        </div>
      </div>
      <div class="zoom" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom in" onClick=${() => zoom(1.25)}>+</button>
        <button type="button" aria-label="Zoom out" onClick=${() => zoom(0.8)}>−</button>
        <button type="button" aria-label="Fit the width" onClick=${() => zoom(null)}>↔</button>
      </div>
    </section>`;
}

export const svgPoints = (list) => list.map((point) => point.join(",")).join(" ");
