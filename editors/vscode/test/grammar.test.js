// The TextMate grammar, run by VS Code's own engine: which scopes the words of small texts get.
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const root = path.join(__dirname, "..");
// A stand-in for the editor's YAML grammar: enough to see where YAML begins and ends.
const yaml = {
  scopeName: "source.yaml",
  patterns: [
    { match: "#.*$", name: "comment.line.yaml" },
    { begin: '"', end: '"', name: "string.quoted.double.yaml" },
    { match: "[\\w.-]+(?=:)", name: "entity.name.tag.yaml" },
  ],
};

async function loadGrammar() {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (scope) => {
      if (scope === "source.yaml") return textmate.parseRawGrammar(JSON.stringify(yaml), "yaml.json");
      const file = path.join(root, "syntaxes/radl.tmLanguage.json");
      return textmate.parseRawGrammar(fs.readFileSync(file, "utf8"), file);
    },
  });
  return registry.loadGrammar("source.radl");
}
const loaded = loadGrammar();

// [text, scopes] of every token.
async function tokens(text) {
  const grammar = await loaded;
  let stack = textmate.INITIAL;
  const found = [];
  for (const line of text.split("\n")) {
    const result = grammar.tokenizeLine(line, stack);
    for (const token of result.tokens) {
      found.push([line.slice(token.startIndex, token.endIndex), token.scopes.join(" ")]);
    }
    stack = result.ruleStack;
  }
  return found;
}

async function expectScopes(text, wanted) {
  const found = await tokens(text);
  let at = 0;
  for (const [word, scope] of wanted) {
    const index = found.findIndex(([token], i) => i >= at && token.trim() === word);
    assert.ok(index >= 0, `no token ${word} behind the ${at}th in ${JSON.stringify(found)}`);
    assert.ok(found[index][1].includes(scope), `${word} is ${found[index][1]}, not ${scope}`);
    at = index + 1;
  }
}

test("sentences, features, values", () =>
  expectScopes("network lan ( outbound = 'yes' ) # c\nsystem a (cpu.count >= 2 and memory.size >= 4GB)", [
    ["network", "keyword.control.sentence"],
    ["lan", "entity.name.type"],
    ["outbound", "support.type.property-name"],
    ["=", "keyword.operator"],
    ["yes", "string.quoted.single"],
    ["# c".slice(0, 1), "comment.line"],
    ["system", "keyword.control.sentence"],
    ["cpu.count", "support.type.property-name"],
    [">=", "keyword.operator"],
    ["2", "constant.numeric"],
    ["and", "keyword.operator.logical"],
    ["4", "constant.numeric"],
    ["GB", "keyword.other.unit"],
  ]));

test("texts: escapes, numbers of machines, inputs, comments inside", () =>
  expectScopes("system a (x = 'it\\'s # no #N# @input.y@' and soft 3 (y contains (name = 'z')))", [
    ["\\'", "constant.character.escape"],
    ["#N#", "constant.other.placeholder"],
    ["@input.y@", "variable.parameter"],
    ["and", "keyword.operator.logical"],
    ["soft", "keyword.operator.logical"],
    ["y", "support.type.property-name"],
    ["contains", "keyword.operator.logical"],
    ["name", "support.type.property-name"],
  ]));

test("YAML between @begin and @end, and not behind it", async () => {
  const text = 'configure a (\n@begin\n---\n- tasks: "never closed\n  # x\n @end\n@end\n)\ndeploy a 1';
  await expectScopes(text, [
    ["@begin", "keyword.control.recipe.begin"],
    ["tasks", "meta.embedded.block.yaml.radl entity.name.tag.yaml"],
    ["@end", "meta.embedded"],
    ["@end", "keyword.control.recipe.end"],
    ["deploy", "keyword.control.sentence"],
    ["a", "entity.name.type"],
  ]);
  for (const [token, scopes] of await tokens(text)) {
    if (token.includes("deploy")) assert.ok(!scopes.includes("embedded"));
  }
});

test("contextualize", () =>
  expectScopes("contextualize 10 (\n  option ansible_version = '2'\n  system a configure b step 1\n)", [
    ["contextualize", "keyword.control.sentence"],
    ["option", "keyword.other"],
    ["ansible_version", "support.type.property-name"],
    ["system", "keyword.control"],
    ["a", "entity.name.type"],
    ["configure", "keyword.control"],
    ["b", "entity.name.type"],
    ["step", "keyword.other"],
    ["1", "constant.numeric"],
  ]));

test("radl 2", () =>
  expectScopes(
    "radl 2\nuse 'std/x' as m (servers = system.s)\nconfigure t (\n  file '/x' (content = 'a ${join(input.l, 1)} b')\n)\n" +
      "output o (value = if input.n > 1 then yes else worker[0].ip)",
    [
      ["radl", "keyword.control.version"],
      ["use", "keyword.control.import"],
      ["as", "keyword.control.import"],
      ["m", "entity.name.namespace"],
      ["servers", "support.type.property-name"],
      ["system.s", "variable.other"],
      ["file", "support.function.resource"],
      ["content", "support.type.property-name"],
      ["${", "punctuation.section.interpolation"],
      ["join", "support.function"],
      ["input.l", "variable.other"],
      ["output", "keyword.control.sentence"],
      ["if", "keyword.control.conditional"],
      ["yes", "constant.language"],
      ["else", "keyword.control.conditional"],
    ]
  ));

test("package.json names files that are there", () => {
  const manifest = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
  const named = [
    manifest.main,
    manifest.contributes.languages[0].configuration,
    manifest.contributes.grammars[0].path,
    manifest.contributes.snippets[0].path,
  ];
  for (const file of named) assert.ok(fs.existsSync(path.join(root, file)), file);
  for (const file of named.slice(1)) JSON.parse(fs.readFileSync(path.join(root, file), "utf8"));
});
