// Points, strokes and lines on a scan, without a screen.

import { boxOf, boxOfLine } from "../page/places.js";

// Where a point of a scan is after it was turned to the left by 90 degrees so many times, and back.
export function turned([x, y], quarters, { width, height }) {
  return [
    [x, y],
    [y, width - x],
    [width - x, height - y],
    [height - y, x],
  ][quarters];
}
export function unturned([x, y], quarters, { width, height }) {
  return [
    [x, y],
    [width - y, x],
    [width - x, height - y],
    [y, height - x],
  ][quarters];
}
// The same as a transformation of CSS.
export function turning(quarters, { width, height }) {
  return [
    "none",
    `matrix(0, -1, 1, 0, 0, ${width})`,
    `matrix(-1, 0, 0, -1, ${width}, ${height})`,
    `matrix(0, 1, -1, 0, ${height}, 0)`,
  ][quarters];
}

// The points of a path that are needed for it to stay within a tolerance. Source: Douglas and Peucker, 1973.
export function simplified(points, tolerance) {
  if (points.length < 3) return points;
  const [first, last] = [points[0], points.at(-1)];
  let [far, place] = [0, 0];
  for (let i = 1; i < points.length - 1; i++) {
    const distance = distanceTo(points[i], first, last);
    if (distance > far) [far, place] = [distance, i];
  }
  if (far <= tolerance) return [first, last];
  return [
    ...simplified(points.slice(0, place + 1), tolerance).slice(0, -1),
    ...simplified(points.slice(place), tolerance),
  ];
}

function distanceTo([x, y], [ax, ay], [bx, by]) {
  const length = Math.hypot(bx - ax, by - ay);
  if (!length) return Math.hypot(x - ax, y - ay);
  return Math.abs((bx - ax) * (ay - y) - (ax - x) * (by - ay)) / length;
}

// The handles of a baseline: 3 to 6 points, as many as its bends need.
export function handlesOf(baseline, least = 3, most = 6) {
  let points = atMost(most, (tolerance) => simplified(baseline, tolerance));
  while (points.length < least) {
    const lengths = points.slice(1).map(([x, y], i) => Math.hypot(x - points[i][0], y - points[i][1]));
    const longest = lengths.indexOf(Math.max(...lengths));
    const middle = [0, 1].map((axis) => Math.round((points[longest][axis] + points[longest + 1][axis]) / 2));
    points = points.toSpliced(longest + 1, 0, middle);
  }
  return points;
}

// The handles of an outline.
export function cornersOf(polygon, most = 24) {
  const closed = [...polygon, polygon[0]];
  const half = Math.floor(polygon.length / 2); // both halves keep their ends: a closed path has none
  return atMost(most, (tolerance) => [
    ...simplified(closed.slice(0, half + 1), tolerance).slice(0, -1),
    ...simplified(closed.slice(half), tolerance).slice(0, -1),
  ]);
}

// The points that `simplify` leaves, with the tolerance at which they are few enough.
function atMost(most, simplify) {
  let tolerance = 2;
  while (simplify(tolerance).length > most) tolerance *= 1.5;
  return simplify(tolerance);
}

export function isInside([x, y], polygon) {
  let inside = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [ax, ay] = polygon[i];
    const [bx, by] = polygon[j];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}

const known = new WeakMap(); // {box, shape} of a line, as pointers move faster than they are computed
function placeOf(line) {
  if (!known.has(line)) {
    const box = boxOfLine(line);
    known.set(line, { box, shape: line.polygon?.length > 2 ? line.polygon : box && corners(box) });
  }
  return known.get(line);
}

// What is drawn and hit of a line: its outline, or a box around its baseline; null without a place.
export const shapeOf = (line) => placeOf(line).shape;

export const corners = ([left, top, right, bottom]) => [
  [left, top],
  [right, top],
  [right, bottom],
  [left, bottom],
];

// Where a line begins, and its middle.
export const startOf = (line) => line.baseline?.[0] ?? shapeOf(line)?.[0] ?? null;
export function middleOf(line) {
  const { box } = placeOf(line);
  return box && [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
}

// The line at a point: of several, that with the nearest baseline.
export function lineAt(lines, point) {
  const found = lines.filter((line) => {
    const { box } = placeOf(line);
    if (!box || point[0] < box[0] || point[0] > box[2] || point[1] < box[1] || point[1] > box[3]) return false;
    return isInside(point, shapeOf(line));
  });
  const far = (line) => Math.abs((line.baseline?.[0]?.[1] ?? 0) - point[1]);
  return found.reduce((best, line) => (best && far(best) <= far(line) ? best : line), null);
}

// The ids of the lines that a stroke touches, in its order.
export function linesAlong(lines, stroke, step = 4) {
  const found = [];
  const look = (point) => {
    const line = lineAt(lines, point);
    if (line && !found.includes(line.id)) found.push(line.id);
  };
  look(stroke[0]);
  for (let i = 1; i < stroke.length; i++) {
    const [ax, ay] = stroke[i - 1];
    const [bx, by] = stroke[i];
    const count = Math.max(1, Math.ceil(Math.hypot(bx - ax, by - ay) / step));
    for (let k = 1; k <= count; k++) look([ax + ((bx - ax) * k) / count, ay + ((by - ay) * k) / count]);
  }
  return found;
}

// The ids of the lines whose middle lies in a drawn shape.
export function linesIn(lines, lasso) {
  return lines.filter((line) => middleOf(line) && isInside(middleOf(line), lasso)).map(({ id }) => id);
}

// The box that a stroke draws: from where it begins to where it ends, whatever lies on its way.
export const boxDrawn = (stroke) => boxOf([stroke[0], stroke.at(-1)]);

// The path of the reading order through the beginnings of lines, as SVG.
export const orderPath = (lines) => {
  const starts = lines.map(startOf).filter(Boolean);
  return starts.length ? `M${starts.join("L")}` : "";
};

// The parts of a list: regions with their lines, the cells of a table together.
export function groupsOf(page) {
  const groups = [];
  let number = 0;
  for (const region of page.regions) {
    const lines = page.lines
      .filter((line) => line.region === region.id)
      .map((line) => ({ line, number: ++number, region }));
    const table = region.cell?.[0] ?? null;
    const last = groups.at(-1);
    if (table !== null && last?.table === table) {
      last.regions.push(region);
      last.lines.push(...lines);
    } else groups.push({ id: region.id, table, regions: [region], lines });
  }
  return groups;
}
