// Between offsets in a line's text and places on the scan.

import { spansOf, utf16, wordsOf } from "./words.js";

// [left, top, right, bottom] around some points.
export function boxOf(points) {
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

// The upper left and the lower right corner of a box.
export const endsOf = ([left, top, right, bottom]) => [
  [left, top],
  [right, bottom],
];

// The point in the middle of a box.
export const middleOf = ([left, top, right, bottom]) => [
  Math.round((left + right) / 2),
  Math.round((top + bottom) / 2),
];

// The box of a line, from its outline or around its baseline; null if it has neither.
export function boxOfLine(line) {
  if (line.polygon?.length) return boxOf(line.polygon);
  if (!line.baseline?.length) return null;
  const [left, top, right, bottom] = boxOf(line.baseline);
  const height = Math.max(20, (right - left) / 25);
  return [left, top - height, right, bottom + height / 3];
}

// The box of the word at an offset of the text; for a word without a place, where it should be by its share of the text.
export function boxAt(line, text, offset) {
  const whole = boxOfLine(line);
  if (!whole) return null;
  const spans = spansOf(text, line.words);
  const found = spans.findIndex(({ end }) => offset <= end);
  if (found < 0) return null;
  const span = spans[found];
  if (span.read?.box) return span.read.box;
  const before = spans.slice(0, found).findLast(({ read }) => read?.box);
  const after = spans.slice(found + 1).find(({ read }) => read?.box);
  const from = before ? { text: before.end, x: before.read.box[2] } : { text: 0, x: whole[0] };
  const to = after ? { text: after.start, x: after.read.box[0] } : { text: text.length, x: whole[2] };
  const at = (place) => from.x + ((to.x - from.x) * (place - from.text)) / Math.max(1, to.text - from.text);
  const height = before?.read.box ?? after?.read.box ?? whole;
  return [at(span.start), height[1], at(span.end), height[3]];
}

// The offset in the text of what is written at a point of the scan.
export function offsetAt(line, text, [x, y]) {
  let nearest = null;
  for (const span of spansOf(text, line.words)) {
    const box = boxAt(line, text, span.start + 1);
    const far = Math.hypot(Math.max(box[0] - x, 0, x - box[2]), Math.max(box[1] - y, 0, y - box[3]));
    if (!nearest || far < nearest.far) nearest = { far, span, box };
  }
  if (!nearest) return 0;
  const { span, box } = nearest;
  const share = Math.min(1, Math.max(0, (x - box[0]) / Math.max(1, box[2] - box[0])));
  return span.start + Math.round(share * (span.end - span.start));
}

// What an address asks for in a line: a range of characters, or the word at a point of the scan; its start without either.
export function placeWanted(line, text, { range, point }) {
  if (range) return { start: utf16(text, range[0]), end: utf16(text, range[1]) };
  const offset = point && offsetAt(line, text, point);
  return (point && wordsOf(text).find(({ end }) => offset <= end)) || { start: 0, end: 0 };
}

// Of the lines that a search has found, where the words stand in the text of an entry: [{start, end, hit}]. While the text
// is being changed, only words that were found in the ink have a place.
export function placesFound(hits, { line, text }) {
  const own = hits.filter((hit) => hit.line === line.id && (hit.box || hit.text === text));
  return own.flatMap((hit) => {
    const wanted = hit.box ? [{ point: middleOf(hit.box) }] : hit.ranges.map((range) => ({ range }));
    return wanted.map((place) => ({ ...placeWanted(line, text, place), hit }));
  });
}

// The same on the scan, as boxes.
export function boxesFound(hits, line) {
  const own = hits.filter((hit) => hit.line === line.id);
  return own.flatMap(({ box, text, ranges }) => {
    if (box) return [box];
    const spans = ranges.map((range) => range.map((place) => utf16(text, place)));
    const words = wordsOf(text).filter((word) => spans.some(([start, end]) => word.end > start && word.start < end));
    return words.map(({ start }) => boxAt(line, text, start)).filter(Boolean);
  });
}

// The share of a baseline's length that lies before the point of it nearest to `point`.
export function shareAlong(baseline, [x, y]) {
  let length = 0;
  let nearest = { far: Number.POSITIVE_INFINITY, at: 0 };
  for (let place = 1; place < baseline.length; place++) {
    const [ax, ay] = baseline[place - 1];
    const [bx, by] = baseline[place];
    const step = Math.hypot(bx - ax, by - ay);
    const along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / Math.max(1e-9, step * step);
    const share = Math.min(1, Math.max(0, along));
    const far = Math.hypot(ax + share * (bx - ax) - x, ay + share * (by - ay) - y);
    if (far < nearest.far) nearest = { far, at: length + share * step };
    length += step;
  }
  return length ? nearest.at / length : 0;
}

// Where a box lies on the straightened line, as [left, right] shares of its width.
export function onStrip(line, box) {
  const middle = (box[1] + box[3]) / 2;
  const path = line.baseline?.length > 1 ? line.baseline : null;
  const whole = boxOfLine(line);
  if (!path) return [box[0], box[2]].map((x) => (x - whole[0]) / Math.max(1, whole[2] - whole[0]));
  const ends = [shareAlong(path, [box[0], middle]), shareAlong(path, [box[2], middle])];
  return [Math.min(...ends), Math.max(...ends)];
}

// Where a point goes into a baseline: the place of the first point behind it.
export function placeInBaseline(baseline, point) {
  const share = shareAlong(baseline, point);
  const place = baseline.findIndex((other) => shareAlong(baseline, other) > share);
  return place < 0 ? baseline.length : place;
}
