// Copies the libraries of the page, with their licences, from node_modules into the Python package, and lists them with
// their hashes. Run `npm ci && npm run vendor` after changing a version in package.json.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const ROOT = new URL("..", import.meta.url);
const PAGE = "src/drethtr/editing/static/vendor";

const PACKAGES = [
  { name: "preact", files: { "dist/preact.mjs": "preact.js", "hooks/dist/hooks.mjs": "hooks.js" } },
  { name: "htm", files: { "dist/htm.mjs": "htm.js" } },
];

// Browsers find modules by address, not by the name of a package, and the maps stay behind.
const asServed = (code) =>
  code.replace('from"preact"', 'from"./preact.js"').replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "\n");

const target = new URL(`${PAGE}/`, ROOT);
const vendored = [];
mkdirSync(target, { recursive: true });

for (const { name, files } of PACKAGES) {
  const source = new URL(`web/node_modules/${name}/`, ROOT);
  const about = JSON.parse(readFileSync(new URL("package.json", source), "utf8"));
  writeFileSync(new URL(`LICENSE.${name}.txt`, target), readFileSync(new URL("LICENSE", source)));
  const sha256 = {};
  for (const [from, to] of Object.entries(files)) {
    const code = asServed(readFileSync(new URL(from, source), "utf8"));
    writeFileSync(new URL(to, target), code);
    sha256[to] = createHash("sha256").update(code).digest("hex");
  }
  vendored.push({ name, version: about.version, license: about.license, homepage: about.homepage, sha256 });
}

writeFileSync(new URL("vendored.json", target), `${JSON.stringify(vendored, null, 2)}\n`);
