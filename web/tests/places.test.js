import assert from "node:assert/strict";
import { test } from "node:test";

import {
  boxAt,
  boxesFound,
  offsetAt,
  onStrip,
  placeInBaseline,
  placesFound,
  placeWanted,
  shareAlong,
} from "../../src/drethtr/editing/static/page/places.js";

const LINE = {
  polygon: [
    [100, 50],
    [500, 50],
    [500, 90],
    [100, 90],
  ],
  baseline: [
    [100, 80],
    [500, 80],
  ],
  words: [
    { text: "dear", confidence: 0.9, box: [100, 50, 200, 90] },
    { text: "sir", confidence: 0.9, box: [400, 50, 500, 90] },
  ],
};

test("the caret is where its word stands", () => {
  assert.deepEqual(boxAt(LINE, "dear sir", 0), [100, 50, 200, 90]);
  assert.deepEqual(boxAt(LINE, "dear sir", 6), [400, 50, 500, 90]);
});

test("a word of a person stands between its neighbors", () => {
  const [left, , right] = boxAt(LINE, "dear old sir", 6);
  assert.ok(left > 200 && right < 400 && left < right);
});

test("a point of the scan leads to the text", () => {
  assert.equal(offsetAt(LINE, "dear sir", [150, 70]), 2);
});

test("shares along a baseline", () => {
  assert.equal(shareAlong(LINE.baseline, [300, 10]), 0.5);
  assert.deepEqual(onStrip(LINE, [100, 50, 200, 90]), [0, 0.25]);
  assert.equal(placeInBaseline(LINE.baseline, [300, 80]), 1);
});

test("an address selects characters, or the word at a point of the scan", () => {
  assert.deepEqual(placeWanted(LINE, "dear 𝔰ir", { range: [5, 8], point: null }), { start: 5, end: 9 });
  const { start, end } = placeWanted(LINE, "dear sir", { range: null, point: [430, 70] });
  assert.deepEqual([start, end], [5, 8]);
  assert.deepEqual(placeWanted(LINE, "dear sir", { range: null, point: null }), { start: 0, end: 0 });
});

test("what a search has found is where the text says, or the ink", () => {
  const line = { ...LINE, id: "l1", text: "dear sir" };
  const inText = { line: "l1", text: "dear sir", ranges: [[6, 8]] };
  const inInk = { line: "l1", text: "dear sir", ranges: [], box: [110, 50, 190, 90], probability: 0.4 };
  const hits = [inText, inInk, { ...inText, line: "l2" }];
  const places = (text) => placesFound(hits, { line, text }).map(({ start, end, hit }) => [start, end, hit]);
  assert.deepEqual(places("dear sir"), [
    [6, 8, inText],
    [0, 4, inInk],
  ]);
  assert.deepEqual(places("clear sir"), [[0, 5, inInk]]);
  assert.deepEqual(boxesFound(hits, line), [
    [400, 50, 500, 90],
    [110, 50, 190, 90],
  ]);
});
