// Doubts painted on the text without touching it: ranges of the CSS Custom Highlight API. Style sheets color them.

const GRADES = ["doubt", "strong-doubt", "differing", "tagged", "found"];
const registry = globalThis.CSS?.highlights;
const highlights = new Map();
const painted = new WeakMap();

if (registry) {
  for (const grade of GRADES) {
    highlights.set(grade, new Highlight());
    registry.set(grade, highlights.get(grade));
  }
}

// Words below half the threshold are more likely wrong than the others.
export const gradeOf = (confidence, threshold) => (confidence < threshold / 2 ? "strong-doubt" : "doubt");

export function rangeOf(element, start, end) {
  const node = element.firstChild;
  const range = document.createRange();
  if (node?.nodeType === Node.TEXT_NODE) {
    range.setStart(node, Math.min(start, node.length));
    range.setEnd(node, Math.min(end, node.length));
  } else {
    range.selectNodeContents(element);
    range.collapse(true);
  }
  return range;
}

export function clear(element) {
  for (const [grade, range] of painted.get(element) ?? []) highlights.get(grade).delete(range);
  painted.delete(element);
}

// Browsers let ranges drift when text is edited or undone: paint again after every input.
// `marks` are [grade, start, end].
export function paint(element, marks) {
  clear(element);
  if (!registry) return;
  const ranges = marks.map(([grade, start, end]) => [grade, rangeOf(element, start, end)]);
  for (const [grade, range] of ranges) highlights.get(grade).add(range);
  painted.set(element, ranges);
}
