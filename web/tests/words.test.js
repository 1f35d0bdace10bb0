import assert from "node:assert/strict";
import { test } from "node:test";

import {
  codePoints,
  difference,
  differencesOf,
  doubtsOf,
  leftOver,
  marking,
  spansOf,
  taken,
  utf16,
  withoutMarks,
} from "../../src/drethtr/editing/static/page/words.js";

const reading = (text, confidence = 0.4) => text.split(" ").map((word) => ({ text: word, confidence, box: null }));

test("an inserted word shifts no confidence to its neighbors", () => {
  const spans = spansOf("the old red house", reading("the red house"));
  assert.deepEqual(
    spans.map(({ text, read }) => [text, read !== null]),
    [
      ["the", true],
      ["old", false],
      ["red", true],
      ["house", true],
    ],
  );
});

test("repeated words keep their order", () => {
  const words = reading("and so and on");
  words[2].confidence = 0.9;
  const doubts = doubtsOf("so and on", words, 0.5);
  assert.deepEqual(
    doubts.map(({ text, start }) => [text, start]),
    [
      ["so", 0],
      ["on", 7],
    ],
  );
});

test("a word of a person, and one of unknown confidence, is no doubt", () => {
  assert.deepEqual(doubtsOf("mine", reading("thine"), 0.99), []);
  assert.deepEqual(doubtsOf("mine", reading("mine", null), 0.99), []);
});

test("only what differs is replaced, and no letter is cut in two", () => {
  assert.deepEqual(difference("seeds", "seats"), { start: 2, end: 4, otherEnd: 4 });
  assert.deepEqual(difference("same", "same"), { start: 4, end: 4, otherEnd: 4 });
  assert.deepEqual(difference("aaa", "aa"), { start: 2, end: 3, otherEnd: 2 });
  assert.equal(difference("x𝔄", "x𝔅").start, 1);
  assert.deepEqual(difference("😀 x", "🨀 x"), { start: 0, end: 2, otherEnd: 2 }); // the second half of both is the same
  assert.deepEqual(difference("cafe\u0301 x", "cafe\u0300 x"), { start: 3, end: 5, otherEnd: 5 });
});

test("offsets in code points and in UTF-16", () => {
  assert.equal(codePoints("𝔄b", 2), 1);
  assert.equal(utf16("𝔄b", 1), 2);
});

test("words that are alike are no difference, and one that is like nothing may be missing", () => {
  const pairs = ["Parcel parcel", "came. came", "– "];
  const isAlike = (ours, theirs) => pairs.includes(`${ours} ${theirs}`);
  const found = differencesOf("the Parcel – came. on Thursday", "the parcel came on Tuesday", isAlike);
  assert.deepEqual(
    found.map(({ text, theirs }) => [text, theirs]),
    [["Thursday", "Tuesday"]],
  );
});

test("two texts differ in stretches of words, and any of them can be taken", () => {
  const ours = "My dear Eleanor, we came on Thursday";
  const theirs = "My Eleanor, we have come on Thursday night";
  const found = differencesOf(ours, theirs);
  assert.deepEqual(
    found.map(({ text, theirs }) => [text, theirs]),
    [
      ["dear", ""],
      ["came", "have come"],
      ["", "night"],
    ],
  );
  assert.deepEqual(
    found.map((one) => taken(ours, one)),
    [
      "My Eleanor, we came on Thursday",
      "My dear Eleanor, we have come on Thursday",
      "My dear Eleanor, we came on Thursday night",
    ],
  );
  assert.equal(found.findLast(Boolean).start, ours.length);
  assert.equal(taken("", differencesOf("", theirs)[0]), theirs);
  assert.deepEqual(differencesOf(ours, ours), []);
});

test("the least sure words are marked until they hold the wanted share of the errors", () => {
  const words = [0.99, 0.6, 0.2, 0.9].map((confidence) => ({ confidence }));
  const { threshold, look, found } = marking([{ words }, { words: [{ confidence: null }] }], 0.6);
  assert.ok(threshold > 0.2 && threshold < 0.6);
  assert.equal(look, 0.25);
  assert.ok(Math.abs(found - 0.8 / 1.31) < 1e-9);
  assert.deepEqual(marking([], 0.7), { threshold: 0, look: 0, found: 0 });
  assert.equal(marking([{ words: [{ confidence: 1 }] }], 0.7).threshold, 0);
});

test("of the words that are not marked, some are probably wrong, unless a person wrote them", () => {
  const reading = [
    { text: "Deer", confidence: 0.3 },
    { text: "Sir", confidence: 0.9 },
  ];
  assert.ok(Math.abs(leftOver("Deer Sir", reading, 0.5) - 0.1) < 1e-9);
  assert.equal(leftOver("Deer Madam", reading, 0.5), 0);
});

test("a tag leaves out punctuation around a passage, but not the period of an abbreviation", () => {
  const tagged = (text, from = 0, to = text.length) => text.slice(...withoutMarks(text, from, to));
  assert.equal(tagged("(Anna,"), "Anna");
  assert.equal(tagged("an Dr. Müller!", 3), "Dr. Müller");
  assert.equal(tagged("d’Anvers’"), "d’Anvers");
  assert.equal(tagged("Mr."), "Mr.");
  assert.equal(tagged(" ?! "), " ?! ");
});
