import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cornersOf,
  groupsOf,
  handlesOf,
  isInside,
  lineAt,
  linesAlong,
  linesIn,
  simplified,
  turned,
  unturned,
} from "../../src/drethtr/editing/static/layout/geometry.js";

const line = (id, left, y, right) => ({
  id,
  baseline: [
    [left, y],
    [right, y],
  ],
  polygon: [
    [left, y - 20],
    [right, y - 20],
    [right, y + 8],
    [left, y + 8],
  ],
});
const LINES = [line("a", 0, 40, 100), line("b", 0, 80, 100), line("c", 0, 120, 100), line("d", 200, 80, 300)];

test("a point that is turned and turned back is where it was", () => {
  const page = { width: 300, height: 200 };
  for (const quarters of [0, 1, 2, 3])
    assert.deepEqual(unturned(turned([10, 20], quarters, page), quarters, page), [10, 20]);
  assert.deepEqual(turned([0, 0], 1, page), [0, 300]);
  assert.deepEqual(turned([0, 0], 3, page), [200, 0]);
});

test("a baseline has 3 to 6 handles, the ends among them", () => {
  const straight = [
    [0, 10],
    [300, 10],
  ];
  assert.deepEqual(handlesOf(straight), [
    [0, 10],
    [150, 10],
    [300, 10],
  ]);
  const wave = Array.from({ length: 60 }, (_, i) => [i * 10, Math.round(20 * Math.sin(i / 3))]);
  const handles = handlesOf(wave);
  assert.ok(handles.length >= 3 && handles.length <= 6);
  assert.deepEqual([handles[0], handles.at(-1)], [wave[0], wave.at(-1)]);
});

test("a path keeps its corners and loses what lies between", () => {
  const corner = [
    [0, 0],
    [50, 1],
    [100, 0],
    [100, 50],
    [100, 100],
  ];
  assert.deepEqual(simplified(corner, 2), [
    [0, 0],
    [100, 0],
    [100, 100],
  ]);
  const round = Array.from({ length: 80 }, (_, i) => [100 * Math.cos(i / 12.74), 100 * Math.sin(i / 12.74)]);
  assert.ok(cornersOf(round).length <= 24 && cornersOf(round).length >= 8);
});

test("a stroke touches lines in its order, and a lasso takes those in it", () => {
  const stroke = [
    [50, 130],
    [50, 30],
  ];
  assert.deepEqual(linesAlong(LINES, stroke), ["c", "b", "a"]);
  const lasso = [
    [-5, 10],
    [110, 10],
    [110, 100],
    [-5, 100],
  ];
  assert.deepEqual(linesIn(LINES, lasso), ["a", "b"]);
  assert.equal(lineAt(LINES, [250, 75]).id, "d");
  assert.equal(lineAt(LINES, [150, 75]), null);
  assert.equal(isInside([5, 5], LINES[0].polygon), false);
});

test("the cells of a table are one part of the list, and numbers go through", () => {
  const page = {
    regions: [
      { id: "r1", cell: null },
      { id: "t1", cell: ["t", 0, 0] },
      { id: "t2", cell: ["t", 0, 1] },
      { id: "r2", cell: null },
    ],
    lines: ["r1", "r1", "t1", "t2", "r2"].map((region, i) => ({ id: `l${i}`, region })),
  };
  const groups = groupsOf(page);
  assert.deepEqual(
    groups.map(({ lines }) => lines.map(({ number }) => number)),
    [[1, 2], [3, 4], [5]],
  );
  assert.equal(groups[1].regions.length, 2);
});
