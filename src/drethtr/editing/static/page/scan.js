// The scan with its lines over it: zoom, pan, the place of the caret, and the points of a baseline.

import * as api from "../api.js";
import { html } from "../html.js";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "../vendor/hooks.js";
import { boxAt, boxOfLine, placeInBaseline } from "./places.js";
import { Viewport } from "./viewport.js";

const STEP = 60;
const points = (list) => list.map((point) => point.join(",")).join(" ");

export function Scan({ page, active, caret, isShaping, isDrawing, onClick, onBaseline, onDrawn }) {
  const frame = useRef();
  const view = useRef();
  const drag = useRef(null);
  const [, redraw] = useReducer((count) => count + 1, 0);
  const [drawn, setDrawn] = useState([]);

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

  useLayoutEffect(() => setDrawn([]), [isDrawing]); // before the first click

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
      point: event.target.dataset.point,
    };
    frame.current.setPointerCapture(event.pointerId);
  };
  const move = (event) => {
    const held = drag.current;
    if (!held) return;
    const [x, y] = [event.clientX - held.x, event.clientY - held.y];
    if (!held.isMoved && Math.hypot(x, y) < 4) return;
    held.isMoved = true;
    if (held.point !== undefined) held.baseline = line.baseline.with(Number(held.point), pointOf(event));
    else {
      view.current.pan(-x, -y);
      Object.assign(held, { x: event.clientX, y: event.clientY });
    }
    redraw();
  };
  const up = (event) => {
    const held = drag.current;
    drag.current = null;
    if (held?.baseline) onBaseline(line.id, held.baseline);
    else if (held && !held.isMoved) {
      const point = pointOf(event);
      if (isDrawing) setDrawn((others) => [...others, point]);
      else if (held.point === undefined) onClick(lineUnder(event), point);
    }
    redraw();
  };
  const lineUnder = (event) =>
    document.elementsFromPoint(event.clientX, event.clientY).find((other) => other.dataset.outline)?.dataset.outline;

  const keys = (event) => {
    if (isDrawing && event.key === "Enter") {
      event.preventDefault();
      onDrawn(drawn.length > 1 ? drawn : null);
      return;
    }
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
  const baseline = drag.current?.baseline ?? line?.baseline;
  return html`
    <section class="scan" aria-label="Scan">
      <div class="frame" ref=${frame} tabindex="0" role="group" data-drawing=${isDrawing ? "" : null}
        aria-label="Scan; arrow keys move it, plus and minus zoom, 0 fits the width"
        onPointerDown=${down} onPointerMove=${move} onPointerUp=${up} onKeyDown=${keys}
        onDblClick=${() => isDrawing && onDrawn(drawn.length > 1 ? drawn : null)}>
        <div class="sheet" style=${{ width: `${page.width}px`, height: `${page.height}px`, transform: `translate(${-left}px, ${-top}px) scale(${scale})` }}>
          <img src=${api.image(page.id)} alt="" draggable=${false} />
          <svg viewBox=${`0 0 ${page.width} ${page.height}`} data-shaping=${isShaping ? "" : null} aria-hidden=${!isShaping}>
            ${page.lines.map(
              (other) =>
                other.polygon?.length > 2 &&
                html`<polygon key=${other.id} class="outline" data-outline=${other.id} data-status=${other.status}
                  data-active=${other.id === line?.id ? "" : null} points=${points(other.polygon)} />`,
            )}
            ${box && caret !== null && html`<rect class="place" x=${box[0]} y=${box[1]} width=${Math.max(4, box[2] - box[0])} height=${box[3] - box[1]} rx=${3 / scale} />`}
            ${
              isShaping &&
              page.lines.map(
                (other, place) =>
                  other.baseline?.length > 1 &&
                  html`<polyline class="baseline" points=${points(other.id === line?.id ? baseline : other.baseline)} />
              <text class="order" x=${Math.max(other.baseline[0][0] - 22 / scale, (10 + 9 * `${place + 1}`.length) / scale)} y=${other.baseline[0][1]} font-size=${14 / scale}>${place + 1}</text>`,
              )
            }
            ${isShaping && baseline && html`<${Handles} baseline=${baseline} scale=${scale} change=${(moved) => onBaseline(line.id, moved)} />`}
            ${
              drawn.length > 0 &&
              html`<polyline class="baseline drawn" points=${points(drawn)} />
              ${drawn.map(([x, y]) => html`<circle class="drawn" cx=${x} cy=${y} r=${5 / scale} />`)}`
            }
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

// The points of a baseline, moved by dragging or with the arrow keys; Delete removes one, Insert adds one behind it.
function Handles({ baseline, scale, change }) {
  const key = (event, place) => {
    const step = event.shiftKey ? 10 : 2;
    const steps = {
      ArrowLeft: [-step, 0],
      ArrowRight: [step, 0],
      ArrowUp: [0, -step],
      ArrowDown: [0, step],
    };
    const [x, y] = baseline[place];
    if (steps[event.key])
      change(baseline.with(place, [Math.max(0, x + steps[event.key][0]), Math.max(0, y + steps[event.key][1])]));
    else if (event.key === "Delete" && baseline.length > 2) change(baseline.toSpliced(place, 1));
    else if (event.key === "Insert" && place + 1 < baseline.length) {
      const middle = [0, 1].map((axis) => Math.round((baseline[place][axis] + baseline[place + 1][axis]) / 2));
      change(baseline.toSpliced(placeInBaseline(baseline, middle), 0, middle));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return baseline.map(
    ([x, y], place) => html`<circle class="handle" cx=${x} cy=${y} r=${7 / scale} tabindex="0" role="button"
      data-point=${place} aria-label=${`Point ${place + 1} of ${baseline.length} of the baseline; arrow keys move it`}
      onKeyDown=${(event) => key(event, place)} />`,
  );
}
