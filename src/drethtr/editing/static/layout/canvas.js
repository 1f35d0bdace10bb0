// The scan in full width: strokes of the tools, and the points of the selected line.

import { html } from "../html.js";
import { placeInBaseline } from "../page/places.js";
import { ARROWS, Sheet, svgPoints, useSheet } from "../page/sheet.js";
import { useEffect, useLayoutEffect, useMemo, useRef } from "../vendor/hooks.js";
import { boxDrawn, corners, cornersOf, handlesOf, lineAt, linesAlong, shapeOf } from "./geometry.js";
import { Shapes } from "./shapes.js";

const AIM = 10; // px by which an arrow key moves the cross of a tool, five times as far with Shift
const BOXES = ["region", "find"]; // tools that draw a box
const FOLLOWING = ["join", "order"]; // tools that show which lines they touch

// `strokes` are those that wait, of a table; `on` tells {select, stroke, place, open}.
export function Canvas({ page, tool, selected, region, strokes, shown, on }) {
  const sheet = useSheet(page, "layout");
  const { frame, view, redraw, inFrame, clipped } = sheet;
  const held = useRef(null); // what the pointer drags
  const clicks = useRef([]); // points of a stroke that is clicked
  const cross = useRef(null); // where the keys aim
  const fingers = useRef(new Map());

  useLayoutEffect(() => {
    clicks.current = [];
    cross.current = null;
    held.current = null;
    redraw();
  }, [tool]);
  // A line that is chosen in the list comes into view.
  useEffect(() => {
    const line = page.lines.find(({ id }) => id === shown?.line);
    const shape = line && shapeOf(line);
    if (!shape || !view.current) return;
    sheet.show(shape);
    redraw();
  }, [shown]);

  const pointOf = (event) => sheet.pointAt(inFrame(event));

  const finish = (stroke, isClicked) => {
    clicks.current = [];
    redraw();
    if (stroke.length > 1) on.stroke(stroke, { scale: view.current.scale, isClicked });
  };
  const down = (event) => {
    frame.current.focus({ preventScroll: true });
    fingers.current.set(event.pointerId, inFrame(event));
    if (fingers.current.size > 1) held.current = { kind: "pan" };
    else if (event.button === 1 || event.button === 2 || (tool === "select" && event.pointerType === "touch"))
      held.current = { kind: "pan", from: inFrame(event), isTouch: event.pointerType === "touch" };
    else if (event.button) return;
    else if (event.target.dataset.handle !== undefined)
      held.current = {
        kind: "handle",
        from: inFrame(event),
        place: Number(event.target.dataset.handle),
        points: handles,
      };
    else held.current = { kind: "stroke", from: inFrame(event), points: [pointOf(event)], touched: [] };
    frame.current.setPointerCapture(event.pointerId);
  };
  const move = (event) => {
    const here = inFrame(event);
    const before = fingers.current.get(event.pointerId);
    if (!before) return;
    fingers.current.set(event.pointerId, here);
    const drag = held.current;
    const other = [...fingers.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const apart = ([x, y]) => Math.hypot(x - other[0], y - other[1]);
      view.current.zoom(
        apart(here) / Math.max(1, apart(before)),
        ...[0, 1].map((axis) => (here[axis] + other[axis]) / 2),
      );
    }
    if (!drag) return;
    if (drag.kind === "pan") {
      const share = 1 / fingers.current.size; // the scan follows the middle of the fingers
      view.current.pan(share * (before[0] - here[0]), share * (before[1] - here[1]));
    } else if (drag.isMoved || Math.hypot(here[0] - drag.from[0], here[1] - drag.from[1]) > 4) {
      drag.isMoved = true;
      const point = pointOf(event);
      if (drag.kind === "handle") drag.points = drag.points.with(drag.place, point);
      else drag.points.push(point);
      if (FOLLOWING.includes(tool)) {
        const along = linesAlong(page.lines, drag.points.slice(-2));
        drag.touched.push(...along.filter((id) => !drag.touched.includes(id)));
      }
    }
    redraw();
  };
  const up = (event) => {
    const drag = held.current;
    held.current = null;
    fingers.current.delete(event.pointerId);
    if (!drag) return;
    const isAdding = event.shiftKey || event.ctrlKey || event.metaKey;
    const [x, y] = inFrame(event);
    const isTap = drag.isTouch && Math.hypot(x - drag.from[0], y - drag.from[1]) < 6;
    if (drag.kind === "handle") {
      if (drag.isMoved) on.place(drag.points, tool === "polygon");
    } else if (isTap || (drag.kind === "stroke" && tool === "select" && !drag.isMoved))
      on.click(lineAt(page.lines, pointOf(event))?.id ?? null, isAdding);
    else if (drag.kind === "stroke" && drag.isMoved) {
      if (tool === "select") on.select(drag.points, isAdding);
      else finish(drag.points, false);
    } else if (drag.kind === "stroke") {
      if (BOXES.includes(tool)) on.click(lineAt(page.lines, pointOf(event))?.id ?? null, isAdding);
      else clicks.current.push(pointOf(event));
    }
    redraw();
  };
  // A gesture that the browser takes over, such as a swipe from the edge of a screen, changes nothing.
  const cancel = (event) => {
    held.current = null;
    fingers.current.delete(event.pointerId);
    redraw();
  };
  const twice = (event) => {
    if (tool === "select") {
      const line = lineAt(page.lines, pointOf(event));
      if (line) on.open(line.id);
    } else if (clicks.current.length > 1) finish(withoutLast(clicks.current), true);
  };

  const keys = (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.dataset.handle !== undefined) return;
    const way = ARROWS[event.key];
    if (way && tool !== "select") {
      const far = (event.shiftKey ? 5 : 1) * AIM;
      const { width, height } = frame.current.getBoundingClientRect();
      const from = cross.current ?? sheet.pointAt([width / 2, height / 2]);
      cross.current = clipped([from[0] + far * way[0], from[1] + far * way[1]]);
      sheet.show([cross.current]);
    } else if (event.key === " " && cross.current) clicks.current.push(cross.current);
    else if (event.key === "Enter" && clicks.current.length > 1) finish(clicks.current, true);
    else if (event.key === "Escape" && clicks.current.length) clicks.current = [];
    else if (!sheet.press(event)) return;
    event.preventDefault();
    event.stopPropagation();
    redraw();
  };
  const scale = view.current?.scale ?? 1;
  const drag = held.current;
  const one = selected.size === 1 ? page.lines.find(({ id }) => selected.has(id)) : null;
  const isOutline = tool === "polygon";
  const handles = useMemo(() => {
    if (!one) return [];
    if (isOutline) return cornersOf(shapeOf(one) ?? []);
    return tool === "select" && one.baseline ? handlesOf(one.baseline) : [];
  }, [one, isOutline, tool]);
  const drawn = drag?.kind === "handle" ? drag.points : handles;
  const shapes = useMemo(
    () => html`<${Shapes} page=${page} selected=${selected} region=${region} />`,
    [page, selected, region],
  );
  const stroke = drag?.kind === "stroke" && drag.isMoved ? drag.points : clicks.current;
  return html`
    <${Sheet} page=${page} sheet=${sheet} data-tool=${tool}
      aria-label="Scan; plus and minus zoom, 0 fits the width; arrow keys move it, or aim with a tool: Space sets a point, Enter ends the stroke"
      onPointerDown=${down} onPointerMove=${move} onPointerUp=${up} onPointerCancel=${cancel} onKeyDown=${keys}
      onDblClick=${twice} onContextMenu=${(event) => event.preventDefault()}>
      ${shapes}
      <svg class="strokes" viewBox=${`0 0 ${page.width} ${page.height}`}>
        ${drag?.touched?.map((id) => html`<polygon class="touched" points=${svgPoints(shapeOf(page.lines.find((line) => line.id === id)))} />`)}
        ${strokes.map((one) => html`<polyline class="stroke" points=${svgPoints(one)} />`)}
        ${
          stroke.length > 0 &&
          (BOXES.includes(tool)
            ? html`<polygon class="stroke lasso" points=${svgPoints(corners(boxDrawn(stroke)))} />`
            : tool === "select" || isOutline
              ? html`<polygon class="stroke lasso" points=${svgPoints(stroke)} />`
              : html`<polyline class="stroke" data-tool=${tool} points=${svgPoints(stroke)} />`)
        }
        ${clicks.current.map(([x, y]) => html`<circle class="point" cx=${x} cy=${y} r=${4 / scale} />`)}
        ${cross.current && html`<path class="cross" d=${`M${cross.current.join(",")}m${-12 / scale},0h${24 / scale}m${-12 / scale},${-12 / scale}v${24 / scale}`} />`}
        ${drawn.length > 0 && html`<${isOutline ? "polygon" : "polyline"} class="held" points=${svgPoints(drawn)} />`}
        ${drawn.length > 0 && html`<${Handles} points=${drawn} scale=${scale} isOutline=${isOutline} change=${(moved) => on.place(moved, isOutline)} />`}
      </svg>
    <//>`;
}

const withoutLast = (list) => (list.length > 2 ? list.slice(0, -1) : list); // a double click sets two points

// Points that are dragged or moved with the arrow keys; Delete removes one, Insert adds one behind it.
function Handles({ points: list, scale, isOutline, change }) {
  const what = isOutline ? "outline" : "baseline";
  const key = (event, place) => {
    const step = event.shiftKey ? 10 : 2;
    const way = ARROWS[event.key];
    const [x, y] = list[place];
    if (way) change(list.with(place, [Math.max(0, x + step * way[0]), Math.max(0, y + step * way[1])]));
    else if (event.key === "Delete" && list.length > (isOutline ? 3 : 2)) change(list.toSpliced(place, 1));
    else if (event.key === "Insert" && place + 1 < list.length) {
      const middle = [0, 1].map((axis) => Math.round((list[place][axis] + list[place + 1][axis]) / 2));
      change(list.toSpliced(isOutline ? place + 1 : placeInBaseline(list, middle), 0, middle));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return list.map(
    ([x, y], place) => html`<circle class="handle" cx=${x} cy=${y} r=${6 / scale} tabindex="0" role="button"
      data-handle=${place} aria-label=${`Point ${place + 1} of ${list.length} of the ${what}; arrow keys move it`}
      onKeyDown=${(event) => key(event, place)} />`,
  );
}
