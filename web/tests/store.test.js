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
