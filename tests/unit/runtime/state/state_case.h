// What the tests of the state share: one infrastructure in a folder of its own, and records to put into it.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/state/store.h"
#include "tests/support/fake_world.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {

class StateCase : public testing::Test {
 protected:
  Result<std::unique_ptr<Store>> open(OpenMode mode = OpenMode::Create, const std::string& name = "demo") {
    return Store::open(directory(), name, mode, fake.world);
  }
  std::unique_ptr<Store> locked() {
    Result<std::unique_ptr<Store>> store = open();
    EXPECT_TRUE(store.ok()) << store.status().text();
    EXPECT_TRUE((*store)->lock("test", std::chrono::milliseconds(0)).ok());
    return std::move(*store);
  }
  std::string directory() const { return folder.path() + "/.radl"; }
  std::string database() const { return directory() + "/demo/state.db"; }
  void sql(const char* text) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(database().c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, text, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }

  static ResourceRecord node(const std::string& address) {
    ResourceRecord record;
    record.address = address;
    record.type = "node";
    record.cloud = "local";
    record.id = "id-" + address;
    record.token = "token-" + address;
    record.spec = {{"memory", 1}};
    record.attributes = {{"host", "127.0.0.1"}, {"list", {1, 2}}};
    record.system = "worker";
    record.ordinal = 1;
    record.number = 4;
    record.reachable = true;
    record.price_per_hour = Money::of(0.25, "EUR");
    record.needs = {"key.local"};
    record.created_at = 12.5;
    return record;
  }
  static StepRecord step(const std::string& id, std::vector<std::string> nodes) {
    StepRecord record;
    record.id = id;
    record.recipe = "tools";
    record.kind = "native";
    record.nodes = std::move(nodes);
    record.made_on = {{"worker[1]", "id-1"}};
    record.digest = "d";
    record.revision = "r";
    record.definition = std::make_shared<const Json>(Json{{"recipe", "tools"}});
    record.inputs = {{"a.ip", "f"}};
    record.output = {{"model_path", "/m"}};
    record.seconds = 1.5;
    record.finished_at = 99;
    return record;
  }

  TemporaryFolder folder;
  FakeWorld fake;
};

}  // namespace radl::test
