// From one marked place of the page's text to the next or previous one.

// `places` in reading order, each with the number of its `line` and where in that text it starts and ends; `here` is
// {line, offset}, or null for before the page, or behind it if `by` is -1. Of a place that ends at the caret, the next one is wanted.
export function nextOf(places, here, by) {
  if (!here) return by > 0 ? places[0] : places.at(-1);
  const far = ({ line, end }) => line - here.line || end - here.offset - by / 2;
  return by > 0 ? places.find((place) => far(place) > 0) : places.findLast((place) => far(place) < 0);
}

// The place at an offset of a line, or else the first one behind it, or before it.
export function placeAt(places, offset) {
  return places.find(({ end }) => offset <= end) ?? places.at(-1);
}
