// The tools of the layout screen: what a stroke of each does.

import { endsOf } from "../page/places.js";
import { boxDrawn, corners, lineAt, linesAlong, linesIn, simplified } from "./geometry.js";

export const TOOLS = [
  ["select", "v", "Select", "Click lines or draw around them; Shift adds. Drag the points of a baseline."],
  ["draw", "d", "Draw", "Drag along a line, or click its points and press Enter."],
  ["cut", "c", "Cut", "One stroke cuts every line that it crosses."],
  ["join", "j", "Join", "Drag across the pieces of a line. With several selected, J joins them at once."],
  ["region", "r", "Region", "Drag a box around the lines of a region. With lines selected, R makes a region of them."],
  ["order", "o", "Order", "Drag a path through lines: they are read in its order."],
  [
    "table",
    "t",
    "Table",
    "Drag strokes between columns, and between rows if these are not found; Enter makes the table.",
  ],
  ["polygon", "p", "Outline", "Drag the corners of the selected line's outline, or draw a new one around it."],
  ["find", "f", "Find lines", "Drag a box: lines in it are found again; lines that you have edited stay."],
].map(([id, key, name, hint]) => ({ id, key, name, hint }));

const TOLERANCE = 3; // screen pixels: how much a hand with a mouse trembles

// What a stroke asks for: {act: body of a request}, {select: ids}, {polygon: points of a line}, {stroke} to keep, or null.
// `isClicked` tells that its points were set one by one.
export function effectOf(tool, stroke, { lines, selected, scale = 1, isClicked = false }) {
  const path = simplified(stroke, TOLERANCE / scale);
  const touched = () =>
    isClicked
      ? [...new Set(stroke.map((point) => lineAt(lines, point)?.id).filter(Boolean))]
      : linesAlong(lines, stroke);
  const effects = {
    select: () => ({ select: linesIn(lines, stroke) }),
    draw: () => ({ act: { do: "draw", baseline: path } }),
    cut: () => ({ act: { do: "cut", stroke: path } }),
    join: () => several(touched(), (ids) => ({ act: { do: "join", lines: ids } })),
    region: () =>
      several(linesIn(lines, corners(boxDrawn(stroke))), (ids) => ({ act: { do: "region", lines: ids } }), 1),
    order: () => several(touched(), (ids) => ({ act: { do: "path", lines: ids } })),
    table: () => ({ stroke: [stroke[0], stroke.at(-1)] }),
    polygon: () =>
      path.length > 2 ? { polygon: path, line: selected.length === 1 ? selected[0] : linesIn(lines, stroke)[0] } : null,
    find: () => {
      const box = endsOf(boxDrawn(stroke));
      const isFlat = box[0].some((start, axis) => box[1][axis] - start < TOLERANCE / scale);
      return isFlat ? { say: "Drag the box around the lines." } : { act: { do: "find", box } };
    },
  };
  return effects[tool]();
}

const several = (ids, make, least = 2) =>
  ids.length >= least
    ? make(ids)
    : { say: least > 1 ? "The stroke touches fewer than two lines." : "There is no line in the box." };

// Strokes of the table tool: those that are upright on the turned page stand between columns, the others between rows.
export function tableOf(strokes, selected, quarters = 0) {
  const isUpright = ([[ax, ay], [bx, by]]) => Math.abs(by - ay) > Math.abs(bx - ax) === (quarters % 2 === 0);
  return {
    do: "table",
    columns: strokes.filter(isUpright),
    rows: strokes.filter((stroke) => !isUpright(stroke)),
    lines: selected.length > 1 ? selected : [],
  };
}
