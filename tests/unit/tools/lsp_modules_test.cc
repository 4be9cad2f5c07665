// Answers that need other files.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "common/files.h"
#include "tests/unit/tools/lsp_client.h"

namespace radl::lsp {
namespace {

// Modules lie on the disk.
class LspModules : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / "radl-lsp-modules";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "modules");
    std::filesystem::create_directories(folder_ / ".hidden");
    write("modules/web.radl",
          "radl 2\n# How many pages.\ninput pages (type = 'integer', default = 1, description = 'page "
          "count')\n"
          "output address (value = input.pages)\n");
    write("other.radl", "radl 2\nuse 'web' as site (pages = 3)\n");
    write(".hidden/no.radl", "system hidden ()\n");
    client_.start(Json::object(), "file://" + folder_.string());
    uri_ = "file://" + (folder_ / "main.radl").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file_atomic((folder_ / name).string(), text).ok());
  }

  void vendor_a_module() {
    const std::string folder = "modules/vendored/mods-bbbbbbbbbbbb";
    write("radl.lock.json", Json{{"version", 1},
                                 {"packages",
                                  {{{"address", "git::https://host/mods.git@v1"},
                                    {"commit", std::string(40, 'a')},
                                    {"sha256", std::string(64, 'b')},
                                    {"folder", folder},
                                    {"fetched", "2026-01-31T09:00:00Z"}}}}}
                                .dump());
    std::filesystem::create_directories(folder_ / folder);
    write(folder + "/db.radl", "radl 2\ninput size ( type = 'integer' )\n");
  }

  std::filesystem::path folder_;
  TestClient client_;
  std::string uri_;
};

TEST_F(LspModules, NamesCrossFiles) {
  std::string text = "radl 2\nuse 'web' as w (pages = 2)\noutput o (value = w.address)\n";
  client_.open(uri_, text);
  std::string module_uri = "file://" + (folder_ / "modules/web.radl").string();
  Json found = client_.result("textDocument/definition", document_at(uri_, at(text, "pages")));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["uri"], module_uri);
  EXPECT_EQ(found[0]["range"]["start"]["line"], 2);
  EXPECT_EQ(client_.result("textDocument/definition", document_at(uri_, at(text, "'web'", 2)))["uri"],
            module_uri);
  EXPECT_EQ(client_.result("textDocument/definition", document_at(uri_, at(text, "address")))[0]["uri"],
            module_uri);
  EXPECT_EQ(client_.result("textDocument/documentLink", document(uri_))[0]["target"], module_uri);
  // The definition, the use inside the module, this file and other.radl.
  EXPECT_EQ(client_.result("textDocument/references", document_at(uri_, at(text, "pages"))).size(), 4u);
  Json hover = client_.result("textDocument/hover", document_at(uri_, at(text, "pages")));
  EXPECT_NE(hover["contents"]["value"].get<std::string>().find("How many pages."), std::string::npos);
  Json params = document_at(uri_, at(text, "pages"));
  params["newName"] = "count";
  Json changes = client_.result("textDocument/rename", params)["changes"];
  EXPECT_EQ(changes.size(), 3u) << changes.dump(1);
}

TEST_F(LspModules, CompletionReadsModules) {
  std::string text = "radl 2\nuse 'web' as w ()\noutput o (value = w.)\nuse '' as z\n";
  client_.open(uri_, text);
  auto labels = [&](Json place) {
    std::set<std::string> all;
    Json items = client_.result("textDocument/completion", document_at(uri_, std::move(place)))["items"];
    for (const Json& item : items) all.insert(item["label"].get<std::string>());
    return all;
  };
  EXPECT_TRUE(labels(at(text, "()", 1)).count("pages"));
  EXPECT_TRUE(labels(at(text, "w.)", 2)).count("address"));
  EXPECT_TRUE(labels(at(text, "''", 1)).count("web"));
  EXPECT_TRUE(labels(at(text, "''", 1)).count("./other"));
}

TEST_F(LspModules, WhatWasVendoredIsOfferedByItsAddress) {
  vendor_a_module();
  const std::string text = "radl 2\nuse '' as w ()\n";
  client_.open(uri_, text);
  Json items = client_.result("textDocument/completion", document_at(uri_, at(text, "''", 1)))["items"];
  std::set<std::string> labels;
  for (const Json& item : items) labels.insert(item["label"].get<std::string>());
  EXPECT_TRUE(labels.contains("git::https://host/mods.git//db@v1")) << items.dump(1);
  EXPECT_FALSE(labels.contains("vendored/mods-bbbbbbbbbbbb/db"));
}

TEST_F(LspModules, RenamingRefusesWhatIsNotTheUsersToEdit) {
  vendor_a_module();
  std::filesystem::create_directories(folder_ / "lib");
  write("lib/tool.radl", "radl 2\ninput level (type = integer)\n");
  ServerOptions options = TestClient::quick();
  options.environment["RADL_STDLIB"] = (folder_ / "lib").string();
  TestClient client(options);
  client.start(Json::object(), "file://" + folder_.string());
  const std::string address = "git::https://host/mods.git//db@v1";
  const std::string text = "radl 2\nuse '" + address +
                           "' as w (size = 2)\nuse 'web' as s (pages = 2)\nuse 'std/tool' as t (level = 1)\n";
  client.open(uri_, text);
  auto refusal = [&](const std::string& method, const std::string& mark) {
    Json params = document_at(uri_, at(text, mark));
    params["newName"] = "other";
    Json answer = client.request(method, params);
    return answer.contains("error") ? answer["error"]["message"].get<std::string>() : "";
  };
  for (const char* method : {"textDocument/rename", "textDocument/prepareRename"}) {
    EXPECT_NE(refusal(method, "size").find("radl.lock.json"), std::string::npos);
    EXPECT_NE(refusal(method, "level").find("standard library"), std::string::npos);
    EXPECT_EQ(refusal(method, "pages"), "") << "the user's own module";
  }
}

TEST_F(LspModules, WorkspaceSymbols) {
  client_.open(uri_, "system local_one ()\n");
  auto names = [&](const std::string& query) {
    std::set<std::string> all;
    for (const Json& each : client_.result("workspace/symbol", {{"query", query}}))
      all.insert(each["name"].get<std::string>());
    return all;
  };
  EXPECT_EQ(names("LOC"), std::set<std::string>{"local_one"});
  EXPECT_TRUE(names("").count("address"));
  EXPECT_FALSE(names("").count("hidden"));
}

TEST_F(LspModules, AnUnsavedModuleIsWhatCounts) {
  std::string module_uri = "file://" + (folder_ / "modules/web.radl").string();
  client_.open(module_uri, "radl 2\ninput sheets (type = 'integer', default = 1)\n");
  std::string text = "radl 2\nuse 'web' as w ()\n";
  client_.open(uri_, text);
  Json items = client_.result("textDocument/completion", document_at(uri_, at(text, "()", 1)))["items"];
  ASSERT_EQ(items.size(), 2u) << items.dump();
  EXPECT_EQ(items[0]["label"], "sheets");
  EXPECT_EQ(items[1]["label"], "when");
}

TEST_F(LspModules, AnInputOfOptionsTakesTheResourcesProperties) {
  client_.open("file://" + (folder_ / "modules/web.radl").string(),
               "radl 2\ninput more (type = options(training))\n");
  std::string text = "radl 2\nuse 'web' as t (\n  epochs = 2\n  \n)\n";
  client_.open(uri_, text);
  auto place = at(text, "  \n)", 2);
  std::set<std::string> labels;
  Json items = client_.result("textDocument/completion", document_at(uri_, place))["items"];
  for (const Json& item : items) labels.insert(item["label"].get<std::string>());
  EXPECT_TRUE(labels.contains("more") && labels.contains("batch_size") && labels.contains("optimizer"))
      << Json(labels).dump();
  EXPECT_FALSE(labels.contains("epochs")) << "it is there";
}

// What a file says changes with the modules that it reads, while they are being written.
TEST_F(LspModules, AChangedModuleIsToldToItsReaders) {
  std::string module_uri = "file://" + (folder_ / "modules/web.radl").string();
  auto errors_of = [&](const std::string& uri) {
    while (true) {
      Json found = client_.diagnostics();
      if (found["uri"] != uri) continue;
      int errors = 0;
      for (const Json& each : found["diagnostics"]) errors += each["severity"] == 1 ? 1 : 0;
      return errors;
    }
  };
  client_.open(uri_, "radl 2\nuse 'web' as w (sheets = 2)\n");
  EXPECT_GT(errors_of(uri_), 0) << "the module on the disk has no such input";
  client_.open(module_uri, "radl 2\ninput sheets (type = 'integer', default = 1)\n");
  EXPECT_EQ(errors_of(uri_), 0);
  client_.change(module_uri, 2, nullptr, "radl 2\ninput leaves (type = 'integer', default = 1)\n");
  EXPECT_GT(errors_of(uri_), 0);
  client_.send_notification("textDocument/didClose", document(module_uri));
  EXPECT_GT(errors_of(uri_), 0);
}

}  // namespace
}  // namespace radl::lsp
