import assert from "node:assert/strict";
import { test } from "node:test";

import { Drafts } from "../../src/drethtr/editing/static/drafts.js";
import { PageStore } from "../../src/drethtr/editing/static/page/store.js";

const DRAFTS = new Drafts("parish", "p1", { length: 0, setItem() {}, removeItem() {} });
const pageOf = (...texts) => ({ lines: texts.map((text, place) => ({ id: `l${place}`, text, revision: text })) });

test("a page that was asked for before a line was saved does not undo it", async () => {
  const store = new PageStore("p1", DRAFTS);
  store.take(pageOf("a", "b"));
  globalThis.fetch = async () => Response.json({ id: "l1", text: "B", revision: "B" });
  await store.reshape("l0", async () => {
    store.type("l1", "B");
    await store.save("l1");
    return pageOf("A", "b");
  });
  assert.deepEqual(
    store.order.map(({ text, line }) => [text, line.revision]),
    [
      ["A", "A"],
      ["B", "B"],
    ],
  );
});

test("while a page cannot be read its lines stay, and a line that comes back has what was typed", async () => {
  const kept = { l0: { text: "A", revision: "a" } };
  const drafts = { all: () => new Map(Object.entries(kept)), keep() {}, drop: (line) => delete kept[line] };
  const store = new PageStore("p1", drafts);
  const unreadable = { lines: [], status: "unread", error: "a.png: damaged" };
  store.take(unreadable);
  assert.deepEqual([store.entries.get("l0").state, store.error], ["gone", "a.png: damaged"]);
  globalThis.fetch = async () => Response.json({ id: "l0", text: "A", revision: "A" });
  store.take(pageOf("a", "b"));
  assert.deepEqual([store.entries.get("l0").state, store.entries.get("l0").text], ["saving", "A"]);
  store.take(unreadable);
  assert.deepEqual([store.order.length, store.page.error], [2, "a.png: damaged"]);
});

test("what was typed stays in its line while the whole page is gone, and is kept apart if the line alone is", async () => {
  const store = new PageStore("p1", DRAFTS);
  store.take(pageOf("a", "b"));
  store.type("l1", "B");
  const gone = (error) => Response.json({ error }, { status: 404 });
  globalThis.fetch = async () => gone("there is no such page");
  await store.save("l1");
  assert.deepEqual([store.entries.get("l1").state, store.error], ["failed", "There is no such page"]);
  globalThis.fetch = async (_, { method }) =>
    method === "PUT" ? gone("there is no such line") : Response.json(pageOf("a"));
  await store.save("l1");
  await new Promise((done) => setTimeout(done));
  assert.equal(store.entries.get("l1").state, "gone");
});
