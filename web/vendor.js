// Copies the libraries of the page, with their licences, from node_modules into the Python package and its tests,
// and lists them with their hashes. Run `npm ci && npm run vendor` after changing a version in package.json.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const ROOT = new URL("..", import.meta.url);
const PAGE = "src/drethtr/editing/static/vendor";
const TESTS = "tests/browser/vendor";

const PACKAGES = [
  { name: "preact", folder: PAGE, files: { "dist/preact.mjs": "preact.js", "hooks/dist/hooks.mjs": "hooks.js" } },
  { name: "htm", folder: PAGE, files: { "dist/htm.mjs": "htm.js" } },
  { name: "axe-core", folder: TESTS, files: { "axe.min.js": "axe.min.js" } },
];

// Browsers find modules by address, not by the name of a package, and the maps stay behind.
const asServed = (code) =>
  code.replace('from"preact"', 'from"./preact.js"').replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "\n");

const vendored = { [PAGE]: [], [TESTS]: [] };

for (const { name, folder, files } of PACKAGES) {
  const source = new URL(`web/node_modules/${name}/`, ROOT);
  const target = new URL(`${folder}/`, ROOT);
  const about = JSON.parse(readFileSync(new URL("package.json", source), "utf8"));
  mkdirSync(target, { recursive: true });
  writeFileSync(new URL(`LICENSE.${name}.txt`, target), readFileSync(new URL("LICENSE", source)));
  const sha256 = {};
  for (const [from, to] of Object.entries(files)) {
    const code = asServed(readFileSync(new URL(from, source), "utf8"));
    writeFileSync(new URL(to, target), code);
    sha256[to] = createHash("sha256").update(code).digest("hex");
  }
  vendored[folder].push({ name, version: about.version, license: about.license, homepage: about.homepage, sha256 });
}

for (const [folder, packages] of Object.entries(vendored)) {
  writeFileSync(new URL(`${folder}/vendored.json`, ROOT), `${JSON.stringify(packages, null, 2)}\n`);
}
