// From one marked place to the next.

import assert from "node:assert/strict";
import { test } from "node:test";
import { nextOf, placeAt } from "../../src/drethtr/editing/static/page/jumps.js";

const places = [
  { line: 0, start: 0, end: 4 },
  { line: 0, start: 9, end: 9 },
  { line: 2, start: 3, end: 7 },
];

test("places follow each other in both directions, and the present one is passed over", () => {
  assert.equal(nextOf(places, null, 1), places[0]);
  assert.equal(nextOf(places, null, -1), places[2]);
  assert.equal(nextOf(places, { line: 0, offset: 4 }, 1), places[1]);
  assert.equal(nextOf(places, { line: 0, offset: 9 }, 1), places[2]);
  assert.equal(nextOf(places, { line: 2, offset: 7 }, 1), undefined);
  assert.equal(nextOf(places, { line: 2, offset: 7 }, -1), places[1]);
  assert.equal(nextOf(places, { line: 0, offset: 4 }, -1), undefined);
});

test("the place at the caret is the one that it is in, or that follows", () => {
  assert.equal(placeAt(places.slice(0, 2), 2), places[0]);
  assert.equal(placeAt(places.slice(0, 2), 6), places[1]);
  assert.equal(placeAt(places.slice(0, 2), 20), places[1]);
  assert.equal(placeAt([], 0), undefined);
});
