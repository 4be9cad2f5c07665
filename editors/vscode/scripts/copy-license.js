// The licence lies once, at the repository's root; the packaged extension needs a copy.
const fs = require("node:fs");
const path = require("node:path");
fs.copyFileSync(path.join(__dirname, "../../../LICENSE"), path.join(__dirname, "../LICENSE"));
