// Numbers, durations and states as a person reads them.

export const UNKNOWN_HAND =
  "The model does not know this hand, or its language: confirm about 60 lines of it, then choose Learn.";

// From this expected CER due to layout errors on, a page's layout is worth a look, until all lines are confirmed.
const DOUBTFUL_LAYOUT = 0.1;
export const isLayoutDoubtful = ({ layout, status }) => layout > DOUBTFUL_LAYOUT && status !== "confirmed";

export const isGoing = ({ state }) => state === "waiting" || state === "running";

export function percent(share) {
  if (share === null || share === undefined) return "–";
  const value = 100 * share;
  return `${value > 0 && value < 9.95 ? value.toFixed(1) : value.toFixed(0)}\u00a0%`;
}

// The ends of an interval, in percent.
export function between(low, high) {
  const digits = 100 * high < 9.95 ? 1 : 0;
  return [low, high].map((end) => (100 * end).toFixed(digits)).join("–");
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 60) return "less than a minute left";
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `about ${minutes} min left`;
  return `about ${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
}

export const counted = (number, thing) => `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;

// An expected number of wrong words, and what is said of those that are left.
export const wrongWords = (number) =>
  number < 1 ? "less than one wrong word" : `about ${counted(Math.round(number), "wrong word")}`;

// `number` is null where nothing tells.
export function leftSaid(number) {
  if (number === null) return "no confidences, so the number of wrong words is unknown";
  if (number < 1) return `probably ${wrongWords(number)} is left`;
  return `${wrongWords(number)} ${number < 1.5 ? "is" : "are"} probably left`;
}

const END = 22; // characters

// A name in two parts, of which the first may be cut off: the names of a folder often differ only at their ends.
export function cutName(name) {
  const cut = Math.max(0, name.length - END) + Math.max(0, name.slice(-END).search(/(?<=[/_., -])/u));
  return name.length <= END ? ["", name] : [name.slice(0, cut), name.slice(cut)];
}
