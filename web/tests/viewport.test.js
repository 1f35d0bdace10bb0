import assert from "node:assert/strict";
import { test } from "node:test";

import { Viewport } from "../../src/drethtr/editing/static/page/viewport.js";

const FRAME = { width: 500, height: 400 };

test("zoom keeps the point under the pointer, and both stay for the next page", () => {
  const view = new Viewport({ width: 1000, height: 2000 }, FRAME);
  view.show([400, 900, 500, 950]);
  const point = view.pointAt(250, 200);
  view.zoom(2, 250, 200);
  assert.deepEqual(view.pointAt(250, 200).map(Math.round), point.map(Math.round));
  const next = new Viewport({ width: 2000, height: 4000 }, FRAME);
  assert.deepEqual(
    next.pointAt(250, 200).map(Math.round),
    point.map((value) => Math.round(2 * value)),
  );
});

test("the scan is zoomed to a line, and back to its width", () => {
  const view = new Viewport({ width: 1000, height: 2000 }, FRAME);
  view.closer([100, 900, 300, 950]);
  assert.deepEqual([view.pointAt(250, 200).map(Math.round), view.scale], [[200, 925], 2.375]);
  view.closer([100, 900, 300, 950]);
  assert.equal(view.scale, 0.5);
});

test("what is shown already does not move", () => {
  const view = new Viewport({ width: 1000, height: 2000 }, FRAME);
  view.fit();
  view.show([400, 900, 500, 950]);
  const { left, top } = view;
  view.show([450, 900, 550, 950]);
  assert.deepEqual([view.left, view.top], [left, top]);
});

test("with a word, its whole line is shown if there is room, else the word with what is around it", () => {
  const view = new Viewport({ width: 1000, height: 2000 }, FRAME);
  view.closer([100, 900, 500, 950]);
  view.show([400, 900, 500, 950], [100, 900, 500, 950]);
  assert.ok(view.pointAt(0, 0)[0] < 100 && view.pointAt(500, 0)[0] > 500);
  view.zoom(2);
  view.show([400, 900, 500, 950], [100, 900, 500, 950]);
  assert.ok(view.pointAt(0, 0)[0] > 100 && view.pointAt(500, 0)[0] > 520);
});
