// Each answer on small documents.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "compiler/eval/evaluate.h"
#include "tests/unit/tools/lsp_client.h"
#include "tools/lsp/position.h"
#include "tools/lsp/vocabulary.h"

namespace radl::lsp {
namespace {

const std::string kText = R"(# All that is here.
# Second line.
network pub (outbound = 'yes')
system node (
  cpu.count >= 1 and
  memory.size >= 2g and
  net_interface.0.connection = 'pub' and
  disk.0.applications contains (
    name = 'nfs'
  )
)
configure setup (
@begin
- tasks: "{{ groups['node'] }} {{ IM_NODE_NUM }}"
@end
)
deploy node 3
contextualize (
  system node configure setup step 1
)
)";

class LspAnswers : public ::testing::Test {
 protected:
  void SetUp() override { client_.start(); }
  void open(const std::string& text) {
    text_ = text;
    client_.open(kUri, text);
  }
  Json ask(const std::string& method, const std::string& mark, int plus = 0, int n = 0) {
    return client_.result("textDocument/" + method, document_at(kUri, at(text_, mark, plus, n)));
  }
  // Labels that are offered where `|` stands.
  std::set<std::string> offered(std::string text) {
    size_t mark = text.find('|');
    text.erase(mark, 1);
    client_.open(kUri, text);
    LineIndex lines(text);
    Position place = lines.position(text, mark, Encoding::Utf16);
    Json result = client_.result("textDocument/completion",
                                 document_at(kUri, {{"line", place.line}, {"character", place.character}}));
    std::set<std::string> labels;
    for (const Json& item : result["items"]) labels.insert(item["label"].get<std::string>());
    return labels;
  }
  // The text after the edits of one document.
  static std::string apply(std::string text, Json edits) {
    LineIndex lines(text);
    auto offset = [&](const Json& p) {
      return lines.offset(text, {p["line"].get<uint32_t>(), p["character"].get<uint32_t>()}, Encoding::Utf16);
    };
    std::vector<std::tuple<size_t, size_t, std::string>> list;
    for (const Json& e : edits)
      list.emplace_back(offset(e["range"]["start"]), offset(e["range"]["end"]), e["newText"]);
    std::sort(list.rbegin(), list.rend());
    for (auto& [begin, end, made] : list) text.replace(begin, end - begin, made);
    return text;
  }

  TestClient client_;
  std::string text_;
};

TEST_F(LspAnswers, CompletionOfFeatures) {
  auto labels = offered("network pub ()\nsystem a (\n  cpu.count >= 1 and\n  |\n)\n");
  for (const char* name : {"memory.size", "net_interface.0.connection", "disk.0.image.url", "soft", "price"})
    EXPECT_TRUE(labels.count(name)) << name;
  EXPECT_FALSE(labels.count("outbound"));
  labels = offered("system a (disk.0.size = 1g and disk.0.device = 'a' and |");
  EXPECT_TRUE(labels.count("disk.0.fstype") && labels.count("disk.1.fstype"));
  EXPECT_FALSE(labels.count("disk.0.device")) << "a text that is given already";
  labels = offered("network a (|)");
  EXPECT_TRUE(labels.count("outports"));
  EXPECT_FALSE(labels.count("cpu.count"));
  labels = offered("system a (disk.0.applications contains (|");
  EXPECT_TRUE(labels.count("preinstalled"));
}

TEST_F(LspAnswers, CompletionOfValuesAndNames) {
  EXPECT_EQ(offered("network pub ()\nnetwork priv ()\nsystem a (net_interface.0.connection = '|')"),
            (std::set<std::string>{"pub", "priv"}));
  EXPECT_EQ(offered("network a (outbound = '|')"), (std::set<std::string>{"yes", "no"}));
  EXPECT_TRUE(offered("system a ()\nsystem b ()\ndeploy |").count("b"));
  EXPECT_TRUE(offered("system a ()\nconfigure c ()\ncontextualize (system a configure |)").count("c"));
  EXPECT_TRUE(offered("contextualize (system a configure c step 4 system b configure d step |)").count("5"));
  EXPECT_TRUE(offered("system a (memory.size >= 2|").count("2G"));
  EXPECT_TRUE(offered("system a (cpu.count |").count(">="));
  EXPECT_TRUE(offered("system a (cpu.count >= 1 |").count("and"));
  EXPECT_TRUE(offered("|").count("network"));
  EXPECT_FALSE(offered("|").count("input")) << "only in radl 2";
  EXPECT_TRUE(offered("configure a (\n@begin\n- x: {{ IM_|").count("IM_NODE_NUM"));
}

TEST_F(LspAnswers, CompletionOfRadl2) {
  EXPECT_TRUE(offered("radl 2\n|").count("input"));
  EXPECT_TRUE(offered("radl 2\ninput n (type = 'integer')\nsystem a (cpu.count >= |)").count("input.n"));
  EXPECT_TRUE(offered("radl 2\ninput n (type = 'integer')\nsystem a (cpu.count >= input.|)").count("n"));
  EXPECT_TRUE(offered("radl 2\noutput o (value = jo|)").count("join"));
  EXPECT_TRUE(offered("radl 2\nconfigure c (\n  |\n)").count("package"));
  EXPECT_TRUE(offered("radl 2\nconfigure c (\n  file '/x' (|)\n)").count("content"));
  EXPECT_TRUE(offered("radl 2\noutput o (value = 'http://${wor|}')\nsystem worker ()").count("worker"));
  EXPECT_TRUE(offered("radl 2\ninput n (type = '|')").count("integer"));
}

TEST_F(LspAnswers, CompletionOfRadl2Words) {
  auto blocks = offered("radl 2\n|");
  EXPECT_TRUE(blocks.contains("let") && blocks.contains("assert") && blocks.contains("each"));
  EXPECT_FALSE(offered("|").contains("let")) << "not in RADL 1";
  EXPECT_TRUE(offered("radl 2\nlet base = 2\nlet more = ba|").contains("base"));
  EXPECT_TRUE(offered("radl 2\nlet base = 2\nsystem a (cpu.count >= |)").contains("base"));
  auto inside = offered("radl 2\neach zone in ['a'] (\n  output o (value = |)\n)");
  EXPECT_TRUE(inside.contains("zone"));
  EXPECT_FALSE(offered("radl 2\neach zone in ['a'] ()\noutput o (value = |)").contains("zone"));
  auto types = offered("radl 2\ninput n (type = |)");
  EXPECT_TRUE(types.contains("integer") && types.contains("list(...)") && types.contains("object(...)"));
  auto properties = offered("radl 2\nconfigure c (\n  file '/x' (\n    mode = '0644'\n    |\n  )\n)");
  EXPECT_TRUE(properties.contains("when") && properties.contains("with") && properties.contains("content"));
  EXPECT_FALSE(properties.contains("mode")) << "it is there";
  EXPECT_TRUE(offered("radl 2\ncontextualize (system a configure b |)").contains("when"));
}

TEST_F(LspAnswers, HoverOutlineAndDefinitionInsideEach) {
  open(
      "radl 2\nlet base = 2 + 3\neach zone in ['a'] (\n  system worker (cpu.count = base)\n"
      "  deploy worker 2\n  configure c (each p in ['x'] (package p))\n)\n");
  EXPECT_NE(ask("hover", "base)", 1).dump().find("2 + 3"), std::string::npos);
  EXPECT_NE(ask("hover", "cpu.count", 1).dump().find("cpu"), std::string::npos);
  EXPECT_NE(ask("hover", "package p", 9).dump().find("each p in ['x']"), std::string::npos);
  EXPECT_EQ(ask("definition", "base)", 1)[0]["range"]["start"], at(text_, "base"));
  EXPECT_EQ(ask("references", "base", 1).size(), 2u);
  Json outline = client_.result("textDocument/documentSymbol", document(kUri));
  ASSERT_EQ(outline.size(), 2u) << outline.dump();
  EXPECT_EQ(outline[0]["name"], "base");
  EXPECT_EQ(outline[1]["name"], "each zone in ['a']");
  ASSERT_EQ(outline[1]["children"].size(), 3u) << outline.dump();
  EXPECT_EQ(outline[1]["children"][0]["name"], "worker");
  EXPECT_EQ(outline[1]["children"][2]["children"][0]["name"], "each p in ['x']");
}

TEST_F(LspAnswers, ALetInsideOfAnEachHasADefinition) {
  open("radl 2\nconfigure c (each p in ['x'] (\n  let home = '/srv/${p}'\n  directory home\n))\n");
  EXPECT_EQ(ask("definition", "directory home", 10)[0]["range"]["start"], at(text_, "home"));
  EXPECT_EQ(ask("references", "home", 1).size(), 2u);
  EXPECT_NE(ask("hover", "directory home", 10).dump().find("let home"), std::string::npos);
}

TEST_F(LspAnswers, CompletionOfMembers) {
  const std::string head = "radl 2\nsystem wn ()\ndeploy wn 2\n";
  for (const char* place :
       {"output o (value = wn[0].|)", "output o (value = wn[*].|)", "output o (value = 'http://${wn[0].|}')",
        "output o (value = wn[0].pri|)", "configure c ( file '/x' ( content = self.| ) )",
        "configure c ( file '/x' ( content = 'a ${self.|' ) )"}) {
    auto labels = offered(head + place);
    EXPECT_TRUE(labels.contains("private_ip") && labels.contains("hostname")) << place;
    EXPECT_FALSE(labels.contains("and")) << place;
  }
  for (const char* place :
       {"configure c ( file '/x' ( when = self.| ) )", "output o (value = 1, when = self.|)"}) {
    auto labels = offered(head + place);
    EXPECT_TRUE(labels.contains("system")) << place;
    EXPECT_FALSE(labels.contains("yes") || labels.contains("'yes'"))
        << place << ": a dot is followed by a member";
  }
  EXPECT_TRUE(offered(head + "output o (value = wn.|)").contains("count"));
  EXPECT_FALSE(offered(head + "output o (value = wn.|)").contains("private_ip"));
  EXPECT_TRUE(offered(head + "output o (value = module.|)").contains("path"));
  EXPECT_TRUE(offered(head + "output o (value = wn[0] |)").contains("and"));
}

TEST_F(LspAnswers, MembersAreThoseThatExpressionsCanRead) {
  const auto& readable = expr::Systems::attributes();
  std::set<std::string> attributes;
  for (const MemberWord& word : node_members()) attributes.emplace(word.name);
  EXPECT_EQ(attributes, std::set<std::string>(readable.begin(), readable.end()));

  const std::string job =
      "radl 2\nsystem s (count = 2)\nconfigure p (program 'p' (systems = system.s, main = 'm'))\n";
  const auto products = offered(job + "output o (value = p.|)");
  for (const char* product : {"exit_status", "metrics", "best"})
    EXPECT_TRUE(products.contains(product)) << product;
  EXPECT_FALSE(products.contains("model_path"));
}

TEST_F(LspAnswers, HoverOnMembers) {
  open(
      "radl 2\nsystem wn ()\ndeploy wn 2\noutput o (value = wn[0].private_ip)\n"
      "output p (value = '${join(wn[*].hostname, ',')} of ${wn.count}')\n"
      "configure c ( file '/x' ( content = '${self.ordinal + 1}' ) )\n");
  auto said = [&](const std::string& mark) { return ask("hover", mark, 1).dump(); };
  EXPECT_NE(said("private_ip").find("private network"), std::string::npos) << said("private_ip");
  EXPECT_NE(said("hostname").find("without domain"), std::string::npos) << said("hostname");
  EXPECT_NE(said("count").find("How many nodes"), std::string::npos) << said("count");
  EXPECT_NE(said("ordinal").find("from 0"), std::string::npos) << said("ordinal");
}

TEST_F(LspAnswers, CompletionUsesTheLastGoodTree) {
  client_.open(kUri, "network pub ()\nsystem a (net_interface.0.connection = 'pub')\n");
  ASSERT_FALSE(client_.result("textDocument/documentSymbol", document(kUri)).empty());
  std::string broken = "network pub (((\nsystem a (net_interface.0.connection = '')\n";
  client_.change(kUri, 2, nullptr, broken);
  Json result = client_.result("textDocument/completion", document_at(kUri, at(broken, "''", 1)));
  bool found = false;
  for (const Json& item : result["items"]) found = found || item["label"] == "pub";
  EXPECT_TRUE(found) << result.dump();
}

TEST_F(LspAnswers, Hover) {
  open(kText);
  auto text = [&](const Json& hover) {
    return hover.is_null() ? std::string() : hover["contents"]["value"].get<std::string>();
  };
  EXPECT_NE(text(ask("hover", "memory.size")).find("Units"), std::string::npos);
  EXPECT_NE(text(ask("hover", "name = 'nfs'")).find("name"), std::string::npos);
  EXPECT_NE(text(ask("hover", "'pub'", 2)).find("network pub (outbound = 'yes')"), std::string::npos);
  EXPECT_NE(text(ask("hover", "deploy node", 8)).find("Nodes: `3`"), std::string::npos);
  EXPECT_NE(text(ask("hover", "IM_NODE_NUM", 3)).find("#N#"), std::string::npos);
  EXPECT_NE(text(ask("hover", "network pub")).find("**network**"), std::string::npos);
  EXPECT_NE(text(ask("hover", "pub (")).find("Second line."), std::string::npos) << "the comment above";
  EXPECT_TRUE(ask("hover", "@end").is_null());
}

TEST_F(LspAnswers, DefinitionAndReferences) {
  open(kText);
  Json found = ask("definition", "'pub'", 1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["range"]["start"], at(text_, "pub"));
  EXPECT_EQ(ask("definition", "configure setup step", 11)[0]["range"]["start"], at(text_, "setup"));
  EXPECT_EQ(ask("references", "system node", 8).size(), 4u);  // definition, recipe, deploy, item
  EXPECT_EQ(ask("documentHighlight", "system node", 8).size(), 4u);
  Json params = document_at(kUri, at(text_, "pub"));
  params["context"] = {{"includeDeclaration", false}};
  EXPECT_EQ(client_.result("textDocument/references", params).size(), 1u);
  EXPECT_TRUE(ask("definition", "memory.size").is_null());
}

TEST_F(LspAnswers, Rename) {
  open(kText);
  EXPECT_EQ(ask("prepareRename", "deploy node", 8)["placeholder"], "node");
  Json params = document_at(kUri, at(text_, "deploy node", 8));
  params["newName"] = "worker";
  Json edit = client_.result("textDocument/rename", params);
  std::string renamed = apply(text_, edit["changes"][kUri]);
  EXPECT_EQ(renamed.find("node'"), std::string::npos);
  EXPECT_NE(renamed.find("groups['worker']"), std::string::npos);
  EXPECT_NE(renamed.find("deploy worker 3"), std::string::npos);
  EXPECT_NE(renamed.find("IM_NODE_NUM"), std::string::npos);
  for (const char* wrong : {"", "1a", "a b", "system", "a'b"}) {
    params["newName"] = wrong;
    EXPECT_TRUE(client_.request("textDocument/rename", params).contains("error")) << wrong;
  }
  open("system a ()\nsystem b ()\n");
  params = document_at(kUri, at(text_, "a ("));
  params["newName"] = "b";
  EXPECT_TRUE(client_.request("textDocument/rename", params).contains("error")) << "the name is taken";
}

TEST_F(LspAnswers, RenameKeepsARecipeWithItsSystem) {
  open("system wn ()\nconfigure wn (\n@begin\n- tasks: []\n@end\n)\ndeploy wn 1\n");
  Json params = document_at(kUri, at(text_, "wn"));
  params["newName"] = "worker";
  std::string renamed = apply(text_, client_.result("textDocument/rename", params)["changes"][kUri]);
  EXPECT_EQ(renamed, "system worker ()\nconfigure worker (\n@begin\n- tasks: []\n@end\n)\ndeploy worker 1\n");
}

TEST_F(LspAnswers, OutlineFoldsAndSelections) {
  open(kText);
  Json symbols = client_.result("textDocument/documentSymbol", document(kUri));
  ASSERT_EQ(symbols.size(), 5u);
  EXPECT_EQ(symbols[1]["name"], "node");
  EXPECT_EQ(symbols[1]["detail"], "system");
  EXPECT_EQ(symbols[1]["children"].size(), 4u);
  EXPECT_EQ(symbols[1]["children"][3]["children"][0]["name"], "name");
  Json folds = client_.result("textDocument/foldingRange", document(kUri));
  std::set<std::pair<int, int>> lines;
  for (const Json& fold : folds) lines.emplace(fold["startLine"], fold["endLine"]);
  EXPECT_TRUE(lines.count({0, 1})) << "comments";
  EXPECT_TRUE(lines.count({3, 9})) << "system, its ) stays visible";
  EXPECT_TRUE(lines.count({7, 8})) << "group";
  EXPECT_TRUE(lines.count({12, 13})) << "recipe";
  Json params = document(kUri);
  params["positions"] = Json::array({at(text_, "2g")});
  Json chain = client_.result("textDocument/selectionRange", params)[0];
  int depth = 0;
  Json inner = chain;
  for (; inner.contains("parent"); inner = Json(inner["parent"])) {
    ++depth;
    EXPECT_LE(inner["parent"]["range"]["start"]["line"], inner["range"]["start"]["line"]);
  }
  EXPECT_GE(depth, 3);
}

TEST_F(LspAnswers, Formatting) {
  std::string text =
      "network   pub(outbound='yes')\nsystem a (\ncpu.count>=1 and memory.size>=1g\n)\n\n\n\ndeploy a 1";
  open(text);
  std::string want =
      "network pub (outbound = 'yes')\n\nsystem a (\n  cpu.count >= 1 and\n  memory.size >= 1g\n)\n\ndeploy "
      "a 1\n";
  EXPECT_EQ(apply(text, client_.result("textDocument/formatting", document(kUri))), want);
  Json params = document(kUri);
  params["range"] = {{"start", {{"line", 2}, {"character", 0}}}, {"end", {{"line", 3}, {"character", 0}}}};
  std::string part = apply(text, client_.result("textDocument/rangeFormatting", params));
  EXPECT_NE(part.find("  cpu.count >= 1 and\n"), std::string::npos);
  EXPECT_NE(part.find("network   pub("), std::string::npos) << "outside the range";
  open(want);
  EXPECT_TRUE(client_.result("textDocument/formatting", document(kUri)).empty());
  open("system a (");
  EXPECT_TRUE(client_.request("textDocument/formatting", document(kUri)).contains("error"));
}

TEST_F(LspAnswers, FormattingOfCrlfTexts) {
  std::string text = "network a ()\r\nsystem   b ()\r\n";
  open(text);
  Json edits = client_.result("textDocument/formatting", document(kUri));
  ASSERT_EQ(edits.size(), 1u);
  EXPECT_EQ(edits[0]["range"]["start"]["line"], 1);
}

TEST_F(LspAnswers, QuickFixes) {
  std::string text =
      "network pub (outbound = 'yes')\nsystem a (\n  memory.sise >= 1g and\n  net_interface.0.connection = "
      "'pub'\n)\ndeploy a 1\n";
  open(text);
  Json params = document(kUri);
  params["range"] = {{"start", at(text, "memory")}, {"end", at(text, "memory")}};
  params["context"] = {{"diagnostics", Json::array()}};
  Json actions = client_.result("textDocument/codeAction", params);
  ASSERT_FALSE(actions.empty());
  EXPECT_EQ(actions[0]["kind"], "quickfix");
  std::string fixed = apply(text, actions[0]["edit"]["changes"][kUri]);
  EXPECT_NE(fixed.find("memory.size >= 1g"), std::string::npos) << fixed;
  params["range"] = {{"start", at(text, "deploy")}, {"end", at(text, "deploy")}};
  EXPECT_TRUE(client_.result("textDocument/codeAction", params).empty());
}

TEST_F(LspAnswers, SemanticTokensFollowEachOther) {
  open(kText);
  Json data = client_.result("textDocument/semanticTokens/full", document(kUri))["data"];
  ASSERT_EQ(data.size() % 5, 0u);
  ASSERT_GT(data.size(), 50u);
  for (size_t i = 0; i < data.size(); i += 5) {
    for (size_t k = 0; k < 5; ++k) EXPECT_TRUE(data[i + k].is_number_unsigned());
    EXPECT_GT(data[i + 2], 0);
    EXPECT_LT(data[i + 3], 12);
  }
}

TEST_F(LspAnswers, InlayHintsNumberTheMachines) {
  open("system a ()\nsystem b ()\ndeploy a 1\ndeploy b 3\n");
  Json params = document(kUri);
  params["range"] = {{"start", {{"line", 0}, {"character", 0}}}, {"end", {{"line", 9}, {"character", 0}}}};
  Json hints = client_.result("textDocument/inlayHint", params);
  ASSERT_EQ(hints.size(), 2u);
  EXPECT_EQ(hints[0]["label"], "#0");
  EXPECT_EQ(hints[1]["label"], "#1 to #3");
}

TEST_F(LspAnswers, InlayHintsNumberTheMachinesOfRepeatedDeploys) {
  open(
      "radl 2\neach z in ['a', 'b'] (\n  system \"w${z}\" ()\n  deploy \"w${z}\" 2\n  deploy \"v${z}\" 1\n)\n"
      "system c ()\ndeploy c 1\neach x in input.l (\n  deploy c 2\n)\ndeploy c 4\n");
  Json params = document(kUri);
  params["range"] = {{"start", {{"line", 0}, {"character", 0}}}, {"end", {{"line", 20}, {"character", 0}}}};
  Json hints = client_.result("textDocument/inlayHint", params);
  ASSERT_EQ(hints.size(), 3u) << "behind a list that is not known nothing is: " << hints.dump();
  EXPECT_EQ(hints[0]["label"], "#0 to #1, #3 to #4");
  EXPECT_EQ(hints[1]["label"], "#2, #5");
  EXPECT_EQ(hints[2]["label"], "#6");
}

TEST_F(LspAnswers, CompletionOfStepsCountsThoseOfRepeatedItems) {
  auto steps = offered(
      "radl 2\neach z in ['a'] (\n  contextualize (\n    each s in [z] (\n      system s configure c step "
      "4\n    )\n"
      "    system t configure c step |\n  )\n)\n");
  EXPECT_TRUE(steps.contains("4") && steps.contains("5")) << Json(steps).dump();
}

TEST_F(LspAnswers, CompletionOfNodesAttributesInsideEach) {
  const std::string head = "radl 2\nsystem wn (cpu.count = 1)\ndeploy wn 2\n";
  auto has_address = [&](const std::string& text) {
    auto labels = offered(head + text);
    return labels.contains("private_ip") || labels.contains("wn[0].private_ip") ||
           labels.contains("self.private_ip") || labels.contains("n.private_ip");
  };
  for (const char* text :
       {"output o (value = wn[0].|)", "output o (value = 'x ${wn[0].|}')", "let a = wn[0].|\n",
        "let a = f(wn[0].|)\n", "each z in ['a'] (\n  output o (value = wn[0].|)\n)\n",
        "each z in ['a'] (\n  output o (\n    value = \"x ${wn[0].|}\"\n  )\n)\n",
        "configure c (\n  each z in ['a'] (\n    command 'x' (command = \"${self.|}\")\n  )\n)\n",
        "configure c (\n  each z in ['a'] (\n    file 'x' (content = self.|)\n  )\n)\n",
        "configure c (\n  each z in ['a'] (\n    file 'x' (content = wn[0].|)\n  )\n)\n",
        "configure c (\n  each z in ['a'] (\n    file \"x${self.|}\" ()\n  )\n)\n",
        "configure c (\n  each n in wn[*] (\n    file 'x' (content = n.|)\n  )\n)\n"})
    EXPECT_TRUE(has_address(text)) << text;
  EXPECT_FALSE(has_address("each z in ['a'] (\n  output o (value = z.|)\n)\n"));
}

TEST_F(LspAnswers, MembersOfWhatAnInputsTypeSays) {
  const std::string head =
      "radl 2\ninput disk ( type = object(size = size, path = optional(string, '/data')) )\n"
      "input users ( type = list(object(name = string, keys = optional(list(string), []))) )\n"
      "input sites ( type = map(object(nodes = integer, disk = object(kind = string))) )\n"
      "input nodes ( type = systems )\nsystem wn\nlet first = input.users[0]\n";
  using Words = std::set<std::string>;
  auto last_parts = [&](const std::string& text) {
    Words found;
    for (const std::string& label : offered(head + text)) found.insert(label.substr(label.rfind('.') + 1));
    return found;
  };
  EXPECT_EQ(last_parts("output o (value = input.disk.|)"), (Words{"size", "path"}));
  EXPECT_EQ(last_parts("output o (value = input.users[0].|)"), (Words{"name", "keys"}));
  EXPECT_EQ(last_parts("output o (value = first.|)"), (Words{"name", "keys"}));
  EXPECT_EQ(last_parts("output o (value = input.sites['eu'].disk.|)"), (Words{"kind"}));
  EXPECT_EQ(last_parts("output o (value = [ u.| for u in input.users ])"), (Words{"name", "keys"}));
  EXPECT_EQ(last_parts("output o (value = { (k) = s.disk.| for k, s in input.sites })"), (Words{"kind"}));
  EXPECT_EQ(last_parts("configure c ( each u in input.users ( user u.| ) )"), (Words{"name", "keys"}));
  EXPECT_EQ(last_parts("each k, s in input.sites ( deploy 'n-${k}' s.| )"), (Words{"nodes", "disk"}));
  EXPECT_EQ(last_parts("output o (value = 'of ${input.disk.|}')"), (Words{"size", "path"}));
  for (const char* nodes :
       {"output o (value = [ n.| for n in wn ])", "output o (value = [ n.| for n in wn[*] ])",
        "output o (value = input.nodes[0].|)", "output o (value = system['wn'][0].|)"})
    EXPECT_TRUE(last_parts(nodes).contains("private_ip")) << nodes;
  EXPECT_TRUE(last_parts("output o (value = input.users.|)").empty());
}

TEST_F(LspAnswers, HoverOnWhatAnInputsTypeSays) {
  open(
      "radl 2\ninput users ( type = list(object(name = string, uid = integer)) )\nsystem wn ()\ndeploy wn 2\n"
      "let cloud = 'ec2'\ndeploy wn 1 '${cloud}'\n"
      "output o (value = [ u.uid for u in input.users ])\noutput p (value = [ n.hostname for n in wn ])\n");
  EXPECT_NE(ask("hover", "uid for", 1).dump().find("integer"), std::string::npos);
  EXPECT_NE(ask("hover", "hostname", 1).dump().find("without domain"), std::string::npos);
  EXPECT_EQ(ask("references", "cloud}'\noutput", 1).size(), 2u);
}

TEST_F(LspAnswers, SnippetsSeparateFeaturesAsTheFileDoes) {
  auto snippet = [&](const std::string& text, const std::string& label) {
    client_.open(kUri, text);
    Json result = client_.result("textDocument/completion", document_at(kUri, at(text, "sys", 3)));
    for (const Json& item : result["items"])
      if (item["label"] == label) return item["textEdit"]["newText"].get<std::string>();
    return std::string();
  };
  EXPECT_NE(snippet("sys", "system").find("} and\n"), std::string::npos);
  EXPECT_EQ(snippet("radl 2\nsys", "system").find(" and"), std::string::npos);
  EXPECT_NE(snippet("radl 2\nsys", "ansible").find("', credentials"), std::string::npos);
}

TEST_F(LspAnswers, SignatureHelp) {
  open("radl 2\noutput o (value = join(['a'], ','))\n");
  Json help = ask("signatureHelp", "','", 0);
  ASSERT_FALSE(help.is_null());
  EXPECT_EQ(help["activeParameter"], 1);
  EXPECT_NE(help["signatures"][0]["label"].get<std::string>().find("join("), std::string::npos);
}

}  // namespace
}  // namespace radl::lsp
