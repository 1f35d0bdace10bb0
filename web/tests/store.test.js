import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { Drafts } from "../../src/drethtr/editing/static/drafts.js";
import { PageStore, storeOf } from "../../src/drethtr/editing/static/page/store.js";

const DRAFTS = new Drafts("parish", "p1", { length: 0, setItem() {}, removeItem() {} });
const pageOf = (...texts) => ({ lines: texts.map((text, place) => ({ id: `l${place}`, text, revision: text })) });

const { fetch } = globalThis;
afterEach(() => {
  globalThis.fetch = fetch;
});

test("a page that was asked for before a line was saved does not undo it", async () => {
  const store = new PageStore("p1", DRAFTS);
  store.take(pageOf("a", "b"));
  globalThis.fetch = async () => Response.json({ id: "l1", text: "B", revision: "B" });
  await store.reshape(async () => {
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

test("an answer that a newer one has overtaken changes nothing", async () => {
  const store = new PageStore("p1", DRAFTS);
  store.take(pageOf("a"));
  const answers = [];
  globalThis.fetch = () => new Promise((done) => answers.push((page) => done(Response.json(page))));
  const loads = [store.load(), new Promise((done) => setTimeout(done, 5)).then(() => store.load())];
  await new Promise((done) => setTimeout(done, 20));
  answers[1](pageOf("A"));
  await loads[1];
  answers[0](pageOf("a", "b"));
  await loads[0];
  assert.deepEqual(
    store.order.map(({ text }) => text),
    ["A"],
  );
});

// Drafts of tabs of one browser, which share them.
function sharedDrafts(prefix) {
  const kept = new Map();
  const keep = (line, text, revision, status) => kept.set(line, { text, revision, status });
  return { prefix, all: () => kept, keep, drop: (line) => kept.delete(line) };
}

// Saves a line as the server does, whose answers may get lost.
function serverOf(line) {
  const server = { line, isThere: true };
  globalThis.fetch = async (_, { headers, body }) => {
    if (!server.isThere) throw new TypeError("no network");
    const { text } = JSON.parse(body);
    if (headers["If-Match"] !== `"${server.line.revision}"`)
      return Response.json({ error: "changed meanwhile", line: server.line }, { status: 409 });
    server.line = { ...server.line, text: text.trim(), revision: `${server.line.revision}+` };
    return Response.json(server.line);
  };
  return server;
}

test("a page that is left and opened again without a server does not take its text for another person's", async () => {
  const drafts = sharedDrafts("left");
  const server = serverOf({ id: "l0", text: "a", revision: "r" });
  const open = () => {
    const store = storeOf("p1", drafts);
    store.take({ lines: [server.line] });
    return store;
  };
  const before = open();
  server.isThere = false;
  before.type("l0", "ab");
  await before.saveAll();
  const again = open();
  again.type("l0", "abc");
  await again.save("l0");
  server.isThere = true;
  await again.saveAll();
  await before.saveAll();
  assert.deepEqual([server.line.text, before.state, again.state, drafts.all().size], ["abc", "saved", "saved", 0]);
  assert.notEqual(open(), before);
});

test("a text with a space at its end that was saved as its tab was closed is no conflict", async () => {
  const drafts = sharedDrafts("closed");
  const server = serverOf({ id: "l0", text: "a", revision: "r" });
  const before = new PageStore("p1", drafts);
  before.take({ lines: [server.line] });
  before.type("l0", "a word ");
  const { text, revision } = drafts.all().get("l0");
  await before.saveAll({ keepalive: true });
  for (const now of [server.line, { id: "l0", text: "a", revision: "r" }]) {
    drafts.keep("l0", text, revision); // as the answer came too late
    const again = new PageStore("p1", drafts);
    again.take({ lines: [now] });
    await again.saveAll();
    assert.deepEqual([again.entries.get("l0").state, again.state, drafts.all().size], ["clean", "saved", 0]);
  }
});

for (const [how, now] of [
  ["as it was", pageOf("a", "b")],
  ["in another place", { lines: [{ id: "l0", text: "a", revision: "moved" }] }],
])
  test(`a line that was confirmed without a server is confirmed when its page is opened again, ${how}`, async () => {
    const drafts = sharedDrafts();
    const before = new PageStore("p1", drafts);
    before.take(pageOf("a", "b"));
    globalThis.fetch = async () => {
      throw new TypeError("no network");
    };
    await before.save("l0", "confirmed");
    clearTimeout(before.entries.get("l0").timer);
    const asked = [];
    globalThis.fetch = async (_, { body }) => {
      asked.push(JSON.parse(body));
      return Response.json({ id: "l0", text: "a", revision: "r1" });
    };
    const store = new PageStore("p1", drafts);
    store.take(now);
    await store.saveAll();
    assert.deepEqual([asked, store.state, drafts.all().size], [[{ text: "a", status: "confirmed" }], "saved", 0]);
  });

test("what a lost connection took is sent again", async ({ mock }) => {
  const store = new PageStore("p1", DRAFTS);
  store.take(pageOf("a"));
  mock.method(AbortSignal, "timeout", () => AbortSignal.abort());
  globalThis.fetch = (_, { signal }) => new Promise((_, fail) => signal.aborted && fail(signal.reason));
  store.type("l0", "b");
  await store.save("l0");
  assert.match(store.error, /does not respond/);
  globalThis.fetch = async () => new Response('{"id": "l0", "te', { headers: { "Content-Type": "application/json" } });
  await store.save("l0");
  assert.match(store.error, /does not respond/);
  globalThis.fetch = async () => Response.json({ id: "l0", text: "b", revision: "b" });
  await store.save("l0");
  assert.equal(store.state, "saved");
});

for (const isReloaded of [false, true])
  test(`what was typed after a text whose answer got lost is no conflict${isReloaded ? ", nor after a reload" : ""}`, async () => {
    const drafts = sharedDrafts(`lost ${isReloaded}`);
    const server = serverOf({ id: "l0", text: "a", revision: "r" });
    const page = { lines: [server.line] };
    let store = new PageStore("p1", drafts);
    store.take(page);
    const answer = globalThis.fetch;
    globalThis.fetch = async (...asked) => {
      await answer(...asked);
      throw new TypeError("no network");
    };
    store.type("l0", "b");
    await store.save("l0");
    globalThis.fetch = answer;
    if (isReloaded) {
      clearTimeout(store.entries.get("l0").timer);
      store = new PageStore("p1", drafts);
      store.take(page); // asked for before the text was saved
    }
    store.type("l0", "bc");
    await store.saveAll();
    assert.deepEqual([store.state, server.line.text], ["saved", "bc"]);
  });

test("what is sent when a tab is left goes on without it, and nothing else does", async () => {
  const store = new PageStore("p1", DRAFTS);
  store.take(pageOf("a"));
  const sent = [];
  globalThis.fetch = async (_, { body, keepalive = false }) => {
    sent.push(keepalive);
    return Response.json({ id: "l0", text: JSON.parse(body).text, revision: `r${sent.length}` });
  };
  store.type("l0", "b");
  await store.save("l0");
  store.type("l0", "c");
  await store.saveAll({ keepalive: true });
  assert.deepEqual([sent, store.state], [[false, true], "saved"]);
});

test("a tab that saves its own text leaves that of another tab in this browser", async () => {
  const drafts = sharedDrafts();
  const [mine, other] = [new PageStore("p1", drafts), new PageStore("p1", drafts)];
  for (const tab of [mine, other]) tab.take(pageOf("a"));
  mine.type("l0", "mine");
  other.type("l0", "other");
  const saved = { id: "l0", text: "other", revision: "r1" };
  globalThis.fetch = async () => Response.json(saved);
  await other.save("l0");
  globalThis.fetch = async () => Response.json({ error: "changed meanwhile", line: saved }, { status: 409 });
  await mine.save("l0");
  assert.deepEqual([mine.entries.get("l0").state, drafts.all().get("l0").text], ["conflict", "mine"]);
});

test("a line in conflict that is changed once more is offered as it is now", async () => {
  const store = new PageStore("p1", DRAFTS);
  store.take(pageOf("a"));
  store.type("l0", "mine");
  globalThis.fetch = async () => Response.json({ error: "changed", line: pageOf("b").lines[0] }, { status: 409 });
  await store.save("l0");
  store.take(pageOf("c"));
  await store.settle("l0", false);
  assert.equal(store.entries.get("l0").text, "c");
});

for (const closed of [false, true])
  test(`a text that a person confirmed and then keeps is confirmed${closed ? ", in another tab, too" : ""}`, async () => {
    const drafts = sharedDrafts();
    let store = new PageStore("p1", drafts);
    store.take(pageOf("a"));
    const theirs = { id: "l0", text: "b", revision: "other" };
    globalThis.fetch = async () => Response.json({ error: "changed", line: theirs }, { status: 409 });
    store.type("l0", "mine");
    await store.save("l0", "confirmed");
    if (closed) {
      store = new PageStore("p1", drafts);
      store.take({ lines: [theirs] });
    }
    const sent = [];
    globalThis.fetch = async (_, { body }) => {
      sent.push(JSON.parse(body));
      return Response.json({ id: "l0", text: "mine", revision: "r1" });
    };
    await store.settle("l0", true);
    assert.deepEqual(sent, [{ text: "mine", status: "confirmed" }]);
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

test("a tag is added once the text is saved, to those that the line has then", async () => {
  const store = new PageStore("p1", DRAFTS);
  store.take(pageOf("a"));
  const person = { name: "person", start: 0, length: 1, details: {} };
  const place = { ...person, name: "place" };
  const asked = [];
  globalThis.fetch = async (_, { headers, body }) => {
    const { text, tags } = JSON.parse(body);
    asked.push([headers["If-Match"], text, tags]);
    return Response.json({ id: "l0", text: "b", revision: `r${asked.length}`, tags: tags ?? [person] });
  };
  store.type("l0", "b");
  store.save("l0");
  await store.tag("l0", (now) => [...now, place]);
  assert.deepEqual(asked, [
    ['"a"', "b", undefined],
    ['"r1"', undefined, [person, place]],
  ]);
  const { state, line } = store.entries.get("l0");
  assert.deepEqual([state, line.revision, line.tags], ["clean", "r2", [person, place]]);
});

test("tags of a line that somebody else has changed are refused, and the line is theirs", async () => {
  const store = new PageStore("p1", DRAFTS);
  store.take(pageOf("a"));
  const theirs = { id: "l0", text: "theirs", revision: "t" };
  globalThis.fetch = async () => Response.json({ error: "changed by somebody else", line: theirs }, { status: 409 });
  await assert.rejects(
    store.tag("l0", () => []),
    /hanged by somebody else/,
  );
  const { state, text, line } = store.entries.get("l0");
  assert.deepEqual([state, text, line, store.state], ["clean", "theirs", theirs, "saved"]);
});

for (const status of [404, 409])
  test(`a line that is gone when its tags are sent (${status}) leaves the page`, async () => {
    const store = new PageStore("p1", DRAFTS);
    store.take(pageOf("a", "b"));
    globalThis.fetch = async (_, { method }) =>
      method === "PUT" ? Response.json({ error: "this line was removed" }, { status }) : Response.json(pageOf("a"));
    await assert.rejects(
      store.tag("l1", () => []),
      /his line was removed/,
    );
    await new Promise((done) => setTimeout(done));
    assert.deepEqual([store.entries.has("l1"), store.order.length, store.state], [false, 1, "saved"]);
  });

test("no tag is sent while the text is not saved, and a refusal of tags is told", async () => {
  const store = new PageStore("p1", DRAFTS);
  store.take(pageOf("a"));
  const asked = [];
  globalThis.fetch = async (_, { body }) => {
    asked.push(JSON.parse(body));
    throw new TypeError("no network");
  };
  store.type("l0", "b");
  await assert.rejects(
    store.tag("l0", () => []),
    /text is not saved/,
  );
  assert.deepEqual([asked.map(({ tags }) => tags), store.entries.get("l0").state], [[undefined], "failed"]);
  globalThis.fetch = async (_, { body }) =>
    JSON.parse(body).tags
      ? Response.json({ error: "ALTO has no tags" }, { status: 422 })
      : Response.json({ id: "l0", text: "b", revision: "b" });
  await assert.rejects(
    store.tag("l0", () => []),
    /ALTO has no tags/,
  );
  await store.save("l0");
  assert.equal(store.entries.get("l0").state, "clean");
});
