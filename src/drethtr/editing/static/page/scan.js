// The scan with its lines over it: zoom, pan, and the place of the caret.

import * as api from "../api.js";
import { html } from "../html.js";
import { useEffect, useLayoutEffect, useReducer, useRef } from "../vendor/hooks.js";
import { boxAt, boxOfLine } from "./places.js";
import { Viewport } from "./viewport.js";

const STEP = 60;
const points = (list) => list.map((point) => point.join(",")).join(" ");

export function Scan({ page, active, caret, onClick }) {
  const frame = useRef();
  const view = useRef();
  const drag = useRef(null);
  const [, redraw] = useReducer((count) => count + 1, 0);

  useLayoutEffect(() => {
    const fitted = () => {
      const { clientWidth, clientHeight } = frame.current;
      view.current = new Viewport(page, {
        width: clientWidth,
        height: clientHeight,
      });
      redraw();
    };
    const observer = new ResizeObserver(fitted);
    observer.observe(frame.current);
    fitted();
    return () => observer.disconnect();
  }, [page.id, page.width, page.height]);

  const line = active?.line;
  const box = line ? (caret === null ? boxOfLine(line) : boxAt(line, active.text, caret)) : null;
  const key = box?.join();
  useEffect(() => {
    if (box && !drag.current) {
      view.current.show(box);
      redraw();
    }
  }, [line?.id, key]);

  // Wheel events must be cancelled, which listeners that a framework adds may not do.
  useEffect(() => {
    const wheel = (event) => {
      event.preventDefault();
      const { left, top } = frame.current.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey) {
        view.current.zoom(Math.exp(-event.deltaY / 400), event.clientX - left, event.clientY - top);
      } else view.current.pan(event.shiftKey ? event.deltaY : event.deltaX, event.shiftKey ? 0 : event.deltaY);
      redraw();
    };
    frame.current.addEventListener("wheel", wheel, { passive: false });
    return () => frame.current?.removeEventListener("wheel", wheel);
  }, []);

  const pointOf = (event) => {
    const { left, top } = frame.current.getBoundingClientRect();
    const [x, y] = view.current.pointAt(event.clientX - left, event.clientY - top);
    const within = (value, length) => Math.round(Math.min(length - 1, Math.max(0, value)));
    return [within(x, page.width), within(y, page.height)];
  };
  const down = (event) => {
    if (event.button) return;
    drag.current = {
      x: event.clientX,
      y: event.clientY,
      isMoved: false,
    };
    frame.current.setPointerCapture(event.pointerId);
  };
  const move = (event) => {
    const held = drag.current;
    if (!held) return;
    const [x, y] = [event.clientX - held.x, event.clientY - held.y];
    if (!held.isMoved && Math.hypot(x, y) < 4) return;
    held.isMoved = true;
    view.current.pan(-x, -y);
    Object.assign(held, { x: event.clientX, y: event.clientY });
    redraw();
  };
  const up = (event) => {
    const held = drag.current;
    drag.current = null;
    if (held && !held.isMoved) onClick(lineUnder(event), pointOf(event));
    redraw();
  };
  const lineUnder = (event) =>
    document.elementsFromPoint(event.clientX, event.clientY).find((other) => other.dataset.outline)?.dataset.outline;

  const keys = (event) => {
    const moves = {
      "+": () => view.current.zoom(1.25),
      "=": () => view.current.zoom(1.25),
      "-": () => view.current.zoom(0.8),
      0: () => view.current.fit(),
      ArrowLeft: () => view.current.pan(-STEP, 0),
      ArrowRight: () => view.current.pan(STEP, 0),
      ArrowUp: () => view.current.pan(0, -STEP),
      ArrowDown: () => view.current.pan(0, STEP),
    };
    if (event.ctrlKey || event.altKey || event.metaKey || !moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
    redraw();
  };
  const zoom = (factor) => {
    view.current.zoom(factor);
    redraw();
  };
  const { scale = 1, left = 0, top = 0 } = view.current ?? {};
  return html`
    <section class="scan" aria-label="Scan">
      <div class="frame" ref=${frame} tabindex="0" role="group"
        aria-label="Scan; arrow keys move it, plus and minus zoom, 0 fits the width"
        onPointerDown=${down} onPointerMove=${move} onPointerUp=${up} onKeyDown=${keys}>
        <div class="sheet" style=${{ width: `${page.width}px`, height: `${page.height}px`, transform: `translate(${-left}px, ${-top}px) scale(${scale})` }}>
          <img src=${api.image(page.id)} alt="" draggable=${false} />
          <svg viewBox=${`0 0 ${page.width} ${page.height}`} aria-hidden="true">
            ${page.lines.map(
              (other) =>
                other.polygon?.length > 2 &&
                html`<polygon key=${other.id} class="outline" data-outline=${other.id} data-status=${other.status}
                  data-active=${other.id === line?.id ? "" : null} points=${points(other.polygon)} />`,
            )}
            ${box && caret !== null && html`<rect class="place" x=${box[0]} y=${box[1]} width=${Math.max(4, box[2] - box[0])} height=${box[3] - box[1]} rx=${3 / scale} />`}
          </svg>
        </div>
      </div>
      <div class="zoom" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom in" onClick=${() => zoom(1.25)}>+</button>
        <button type="button" aria-label="Zoom out" onClick=${() => zoom(0.8)}>−</button>
        <button type="button" aria-label="Fit the width" onClick=${() => {
          view.current.fit();
          redraw();
        }}>↔</button>
      </div>
    </section>`;
}
