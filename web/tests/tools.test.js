import assert from "node:assert/strict";
import { test } from "node:test";
import { effectOf, tableOf } from "../../src/drethtr/editing/static/layout/tools.js";

const line = (id, top) => ({
  id,
  polygon: [
    [0, top],
    [100, top],
    [100, top + 20],
    [0, top + 20],
  ],
});

test("a region, and lines to be found again, are those in the box that is seen, not on the way there", () => {
  const lines = [line("above", 0), line("below", 40)];
  const stroke = [
    [-5, -5],
    [105, 70],
    [105, 30],
  ];
  assert.deepEqual(effectOf("region", stroke, { lines }), { act: { do: "region", lines: ["above"] } });
  assert.deepEqual(effectOf("find", stroke, { lines }).act.box, [
    [-5, -5],
    [105, 30],
  ]);
  assert.equal(effectOf("find", [stroke[0], [-4, 30]], { lines }).say, "Drag the box around the lines.");
});

test("a stroke of a table stands between columns if it is upright on the page as it is turned", () => {
  const stroke = [
    [50, 0],
    [52, 300],
  ];
  for (const quarters of [0, 2]) assert.deepEqual(tableOf([stroke], [], quarters).columns, [stroke]);
  for (const quarters of [1, 3]) assert.deepEqual(tableOf([stroke], [], quarters).rows, [stroke]);
});
