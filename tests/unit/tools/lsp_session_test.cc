// The server as a client meets it: life cycle, errors, order, cancellation, diagnostics while typing.
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "tests/unit/tools/lsp_client.h"
#include "tools/lsp/position.h"

namespace radl::lsp {
namespace {

constexpr char kGood[] =
    "network pub (outbound = 'yes')\nsystem node (\n  cpu.count >= 1 and\n  net_interface.0.connection = "
    "'pub'\n)\ndeploy node 1\n";

TEST(LspSession, StartsAndEndsInOrder) {
  TestClient client;
  Json answer = client.start();
  EXPECT_EQ(answer["serverInfo"]["name"], "radlc");
  EXPECT_EQ(answer["capabilities"]["positionEncoding"], "utf-16");
  EXPECT_EQ(answer["capabilities"]["textDocumentSync"]["change"], 2);
  EXPECT_EQ(client.finish(), 0);
}

TEST(LspSession, EndingWithoutShutdownIsAnError) {
  TestClient without;
  without.start();
  without.send_notification("exit", nullptr);
  EXPECT_EQ(without.wait_for_end(), 1);
  TestClient gone;
  gone.start();
  gone.close_input();
  EXPECT_EQ(gone.wait_for_end(), 1);
}

TEST(LspSession, RequestsOutOfTurnAreRefused) {
  TestClient client;
  EXPECT_EQ(client.request("textDocument/hover",
                           document_at(kUri, {{"line", 0}, {"character", 0}}))["error"]["code"],
            -32002);
  client.start();
  EXPECT_EQ(client.request("initialize", Json::object())["error"]["code"], -32600);
  EXPECT_EQ(client.request("no/such", Json::object())["error"]["code"], -32601);
  EXPECT_EQ(client.request("textDocument/hover", Json::object())["error"]["code"], -32602);
  EXPECT_EQ(client.request("textDocument/hover", {{"textDocument", {{"uri", 5}}}})["error"]["code"], -32602);
  EXPECT_EQ(client.request("textDocument/hover",
                           document_at("file:///closed", {{"line", 0}, {"character", 0}}))["error"]["code"],
            -32803);
  client.result("shutdown", nullptr);
  EXPECT_EQ(client.request("textDocument/hover", Json::object())["error"]["code"], -32600);
}

TEST(LspSession, GarbageIsAnsweredAndSurvived) {
  TestClient client;
  client.start();
  client.send_raw("GET / HTTP/1.1\r\n\r\n");
  client.send_raw(encode_frame("{not json"));
  client.send_raw(encode_frame("[1,2,3]"));
  client.send_raw(encode_frame(std::string(10000, '[')));
  client.send_raw(encode_frame(R"({"jsonrpc":"2.0","id":"x","method":7})"));
  client.send_notification("textDocument/didChange", {{"wrong", true}});
  client.send_notification("$/unknown", {{"a", 1}});
  client.open(kUri, kGood);
  Json hover = client.result("textDocument/hover", document_at(kUri, at(kGood, "cpu.count")));
  EXPECT_NE(hover["contents"]["value"].get<std::string>().find("cpu.count"), std::string::npos);
}

TEST(LspSession, ACancelledRequestIsAnsweredAsSuch) {
  TestClient client;
  client.start();
  client.open(kUri, kGood);
  // One write, so that the cancellation is read before the first request is finished: the second is still
  // waiting.
  std::string bytes;
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "system s" + std::to_string(i) + " (cpu.count >= 1)\n";
  Json item = {{"uri", "file:///big"}, {"languageId", "radl"}, {"version", 1}, {"text", text}};
  bytes += encode_frame(
      Json{{"jsonrpc", "2.0"}, {"method", "textDocument/didOpen"}, {"params", {{"textDocument", item}}}}
          .dump());
  bytes += encode_frame(Json{{"jsonrpc", "2.0"},
                             {"id", 900},
                             {"method", "textDocument/formatting"},
                             {"params", document("file:///big")}}
                            .dump());
  bytes += encode_frame(Json{{"jsonrpc", "2.0"},
                             {"id", 901},
                             {"method", "textDocument/documentSymbol"},
                             {"params", document("file:///big")}}
                            .dump());
  bytes +=
      encode_frame(Json{{"jsonrpc", "2.0"}, {"method", "$/cancelRequest"}, {"params", {{"id", 901}}}}.dump());
  client.send_raw(bytes);
  EXPECT_TRUE(client.answer_to(900).contains("result"));
  Json answer = client.answer_to(901);
  if (answer.contains("error")) {  // a very slow reader may let it through
    EXPECT_EQ(answer["error"]["code"], -32800);
  }
}

TEST(LspSession, DiagnosticsFollowTheText) {
  TestClient client;
  client.start();
  client.open(kUri, kGood);
  EXPECT_TRUE(client.diagnostics()["diagnostics"].empty());
  std::string text = kGood;
  Json where = at(text, "'pub'", 0, 0);
  client.change(kUri, 2, {{"start", at(text, "pub'")}, {"end", at(text, "pub'", 3)}}, "pbu");
  Json found = client.diagnostics();
  EXPECT_EQ(found["version"], 2);
  ASSERT_FALSE(found["diagnostics"].empty());
  bool about_network = false;
  for (const Json& each : found["diagnostics"]) {
    EXPECT_EQ(each["source"], "radlc");
    if (each["severity"] == 1 && each["range"]["start"]["line"] == 3) about_network = true;
  }
  EXPECT_TRUE(about_network) << found.dump(2);
  client.change(kUri, 3, nullptr, kGood);
  EXPECT_TRUE(client.diagnostics()["diagnostics"].empty());
  client.send_notification("textDocument/didClose", document(kUri));
  EXPECT_TRUE(client.diagnostics()["diagnostics"].empty());
}

TEST(LspSession, ThreeMistakesGiveThreeMessages) {
  TestClient client;
  client.start();
  client.open(kUri, "network a (outbound = yes)\nsystem b (cpu.count >= )\ndeploy\n");
  Json found = client.diagnostics()["diagnostics"];
  std::set<int> lines;
  for (const Json& each : found) {
    if (each["severity"] == 1) lines.insert(each["range"]["start"]["line"].get<int>());
  }
  EXPECT_TRUE(lines.count(0) && lines.count(1)) << found.dump(1);
  EXPECT_LE(found.size(), 5u) << "no cascade\n" << found.dump(1);
}

TEST(LspSession, ManyChangesGiveOneReport) {
  ServerOptions options = TestClient::quick();
  options.diagnostics_delay = std::chrono::milliseconds(60);
  TestClient client(options);
  client.start();
  client.open(kUri, "");
  std::string text = kGood;
  for (size_t i = 0; i < text.size(); ++i) {
    LineIndex lines(text.substr(0, i));
    Position end = lines.position(text.substr(0, i), i, Encoding::Utf16);
    Json position = {{"line", end.line}, {"character", end.character}};
    client.change(kUri, static_cast<int>(i) + 2, {{"start", position}, {"end", position}},
                  std::string(1, text[i]));
  }
  // The changes come faster than the delay: few reports, and the last one is about the whole text.
  int reports = 0;
  Json last;
  do {
    last = client.diagnostics();
    ++reports;
  } while (last["version"] != static_cast<int>(text.size()) + 1);
  EXPECT_TRUE(last["diagnostics"].empty()) << last.dump(1);
  EXPECT_LT(reports, static_cast<int>(text.size()) / 4);
}

TEST(LspSession, PositionsInTheAgreedEncoding) {
  std::string text = "network \xC3\xA4 ()\nsystem a (x = '\xF0\x9F\x98\x80' and cpu.count >= 1)\n";
  text = "system a (x = '\xF0\x9F\x98\x80' and cpu.count >= 1)\n";
  size_t byte = text.find("cpu.count");
  for (auto [name, character] : {std::pair{"utf-16", byte - 2}, {"utf-8", byte}, {"utf-32", byte - 3}}) {
    TestClient client;
    Json answer = client.start({{"general", {{"positionEncodings", {name, "utf-16"}}}}});
    EXPECT_EQ(answer["capabilities"]["positionEncoding"], name);
    client.open(kUri, text);
    Json hover =
        client.result("textDocument/hover", document_at(kUri, {{"line", 0}, {"character", character}}));
    ASSERT_FALSE(hover.is_null()) << name;
    EXPECT_EQ(hover["range"]["start"]["character"], character);
  }
}

// A byte order mark is a character of the first line for the client, and none of the language.
TEST(LspSession, AByteOrderMarkIsCounted) {
  std::string text = "\xEF\xBB\xBFsystem a (cpu.count >= 1 and memory.sise >= 1G)\ndeploy a 1\n";
  TestClient client;
  client.start();
  client.open(kUri, text);
  size_t character = text.find("cpu.count") - 2;  // the mark's three bytes are one unit
  Json hover =
      client.result("textDocument/hover", document_at(kUri, {{"line", 0}, {"character", character}}));
  ASSERT_FALSE(hover.is_null());
  EXPECT_EQ(hover["range"]["start"]["character"], character);
  EXPECT_TRUE(
      client.result("textDocument/hover", document_at(kUri, {{"line", 0}, {"character", character - 1}}))
          .is_null());
  const Json published = client.diagnostics();
  for (const Json& each : published["diagnostics"]) {
    if (each["message"].get<std::string>().find("memory.sise") != std::string::npos) {
      EXPECT_EQ(each["range"]["start"]["character"], text.find("memory.sise") - 2) << each.dump();
    }
  }
  Json edits = client.result("textDocument/formatting", document(kUri));
  for (const Json& edit : edits)
    EXPECT_GE(edit["range"]["start"]["character"].get<int>(), 1) << "the mark stays";
  // An edit after the mark is applied at the client's position.
  client.change(kUri, 2,
                {{"start", {{"line", 0}, {"character", 8}}}, {"end", {{"line", 0}, {"character", 9}}}}, "b");
  Json symbols = client.result("textDocument/documentSymbol", document(kUri));
  EXPECT_EQ(symbols[0]["name"], "b");
}

TEST(LspSession, CrlfLinesCountAsOthersDo) {
  std::string text = "network pub ()\r\nsystem a (\r\n  net_interface.0.connection = 'pub'\r\n)\r\n";
  TestClient client;
  client.start();
  client.open(kUri, text);
  Json place = {{"line", 2}, {"character", 32}};
  Json found = client.result("textDocument/definition", document_at(kUri, place));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["range"]["start"], (Json{{"line", 0}, {"character", 8}}));
  client.change(kUri, 2,
                {{"start", {{"line", 0}, {"character", 14}}}, {"end", {{"line", 1}, {"character", 0}}}},
                "\r\n\r\n");
  place["line"] = 3;
  EXPECT_EQ(client.result("textDocument/definition", document_at(kUri, place)).size(), 1u);
}

// A client in disorder: changes of what is not open, versions that go back, ranges of texts that are gone.
// The text is what the changes make of it in their order, and the server stays.
TEST(LspSession, ChangesOutOfOrderAreTakenAsTheyCome) {
  TestClient client;
  client.start();
  client.change("file:///nowhere/other.radl", 7, nullptr, "system x ()\n");
  client.open(kUri, kGood);
  client.change(kUri, 9, nullptr, "system b ()\n");
  client.change(kUri, 3,
                {{"start", {{"line", 0}, {"character", 7}}}, {"end", {{"line", 0}, {"character", 8}}}}, "c");
  client.change(kUri, 4,
                {{"start", {{"line", 70}, {"character", 7}}}, {"end", {{"line", 80}, {"character", 0}}}},
                "deploy c 1\n");
  Json symbols = client.result("textDocument/documentSymbol", document(kUri));
  ASSERT_EQ(symbols.size(), 2u) << symbols.dump(1);
  EXPECT_EQ(symbols[0]["name"], "c");
  client.send_notification("textDocument/didClose", document("file:///nowhere/other.radl"));
  client.send_notification("textDocument/didClose", document(kUri));
  client.change(kUri, 10, nullptr, kGood);
  EXPECT_EQ(client.request("textDocument/documentSymbol", document(kUri))["error"]["code"], -32803);
  client.open(kUri, kGood);
  EXPECT_EQ(client.result("textDocument/documentSymbol", document(kUri)).size(), 3u);
  EXPECT_EQ(client.finish(), 0);
}

TEST(LspSession, AMessageOverTheLimitIsRefusedAndTheNextOneAnswered) {
  TestClient client;
  client.start();
  client.open(kUri, kGood);
  std::string huge(65u << 20, ' ');  // the limit is 64 MiB
  client.send_raw(encode_frame(huge));
  Json refused;
  do {
    refused = client.next_message();
  } while (!refused.contains("error"));
  EXPECT_EQ(refused["error"]["code"], -32700);
  EXPECT_EQ(client.result("textDocument/documentSymbol", document(kUri)).size(), 3u);
}

TEST(LspSession, AnyTextAndPositionGetsAnAnswer) {
  TestClient client;
  client.start();
  const char* texts[] = {"",
                         "\n",
                         "'",
                         "((((",
                         "radl 2\noutput o (value = '${",
                         "configure a (@begin\n",
                         "contextualize ( system",
                         "\xFF\xFE\x00",
                         "use",
                         "radl 2\nuse 'x' as y (",
                         "system a (soft",
                         ")))) deploy 1 1 1",
                         "\r\r\r"};
  int version = 1;
  client.open(kUri, "");
  for (const char* text : texts) {
    client.change(kUri, ++version, nullptr,
                  Json(std::string(text)).dump(-1, ' ', true, Json::error_handler_t::replace));
    client.change(kUri, ++version, nullptr, std::string(text).find('\xFF') == std::string::npos ? text : "?");
    for (int line : {0, 1, 1000000}) {
      for (int character : {0, 3, 1000000}) {
        Json place = document_at(kUri, {{"line", line}, {"character", character}});
        for (const char* method : {"completion", "hover", "definition", "references", "documentHighlight",
                                   "prepareRename", "signatureHelp"}) {
          Json answer = client.request("textDocument/" + std::string(method), place);
          EXPECT_TRUE(answer.contains("result")) << method << " in " << text << ": " << answer.dump();
        }
      }
    }
    Json range = {{"start", {{"line", 0}, {"character", 0}}}, {"end", {{"line", 99}, {"character", 0}}}};
    for (const char* method : {"documentSymbol", "foldingRange", "documentLink", "semanticTokens/full"}) {
      EXPECT_TRUE(client.request("textDocument/" + std::string(method), document(kUri)).contains("result"))
          << method << " in " << text;
    }
    Json with_range = document(kUri);
    with_range["range"] = range;
    with_range["context"] = {{"diagnostics", Json::array()}};
    with_range["positions"] = Json::array({range["start"], range["end"]});
    for (const char* method : {"codeAction", "inlayHint", "selectionRange", "semanticTokens/range"}) {
      EXPECT_TRUE(client.request("textDocument/" + std::string(method), with_range).contains("result"))
          << method << " in " << text;
    }
  }
}

}  // namespace
}  // namespace radl::lsp
