import assert from "node:assert/strict";
import { test } from "node:test";

import { Drafts } from "../../src/drethtr/editing/static/drafts.js";

class Storage extends Map {
  getItem = (key) => this.get(key) ?? null;
  setItem = (key, value) => this.set(key, value);
  removeItem = (key) => this.delete(key);
  key = (place) => [...this.keys()][place];
  get length() {
    return this.size;
  }
}

test("drafts are those of one page of one folder", () => {
  const storage = new Storage();
  const drafts = new Drafts("parish", "p1", storage);
  drafts.keep("l1", "new", "r0");
  new Drafts("parish", "p2", storage).keep("l1", "other", "r0");
  new Drafts("town", "p1", storage).keep("l1", "other", "r0");
  assert.deepEqual([...drafts.all()], [["l1", { text: "new", revision: "r0" }]]);
  drafts.drop("l1");
  assert.equal(drafts.all().size, 0);
});

test("a damaged draft hides no other", () => {
  const storage = new Storage();
  const drafts = new Drafts("parish", "p1", storage);
  drafts.keep("l1", "first", "r0");
  drafts.keep("l2", "second", "r0");
  drafts.keep("l3", "third", "r0");
  const [first, second] = storage.keys();
  storage.set(first, '{"text": "fi');
  storage.set(second, "null");
  assert.deepEqual([...drafts.all()], [["l3", { text: "third", revision: "r0" }]]);
});
