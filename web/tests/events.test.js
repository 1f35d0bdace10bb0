import assert from "node:assert/strict";
import { test } from "node:test";

import { listen, on } from "../../src/drethtr/editing/static/events.js";

class Stream extends EventTarget {
  static CLOSED = 2;
  static all = [];
  static open = () => Stream.all.filter(({ readyState }) => readyState !== Stream.CLOSED).length;

  constructor() {
    super();
    this.readyState = 1;
    Stream.all.push(this);
  }

  close() {
    this.readyState = Stream.CLOSED;
  }

  refuse() {
    this.close();
    this.dispatchEvent(new Event("error"));
  }
}

test("a tab listens while it is seen, and again after the server was away", ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.EventSource = Stream;
  globalThis.document = Object.assign(new EventTarget(), { hidden: false });
  const told = [];
  for (const name of ["connected", "lost", "page"]) on(name, (detail) => told.push(detail ?? name));
  const show = (isSeen) => {
    document.hidden = !isSeen;
    document.dispatchEvent(new Event("visibilitychange"));
  };
  listen();
  Stream.all[0].dispatchEvent(new Event("open"));
  Stream.all[0].dispatchEvent(Object.assign(new Event("page"), { data: '"p1"' }));
  Stream.all[0].refuse();
  assert.deepEqual([told, Stream.open()], [["connected", "p1", "lost"], 0]);
  mock.timers.tick(60_000);
  assert.equal(Stream.open(), 1);
  show(false);
  mock.timers.tick(60_000);
  assert.equal(Stream.open(), 0);
  show(true);
  assert.equal(Stream.open(), 1);
  Stream.all.at(-1).refuse();
  show(false);
  mock.timers.tick(60_000);
  assert.equal(Stream.open(), 0);
});
