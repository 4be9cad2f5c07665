// What the tests of states in a bucket share: a bucket that can fail, and states of many resources.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <random>

#include "runtime/state/bucket.h"
#include "runtime/state/store.h"
#include "runtime/state/stored_state.h"
#include "tests/support/buckets.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {

class StoredStateCase : public testing::Test {
 protected:
  static constexpr const char *kPlace = "s3://states/p", *kHead = "/states/p/demo/state.db.gz",
                              *kPartsFolder = "/states/p/demo/parts/";

  Result<std::unique_ptr<Store>> open(OpenMode mode = OpenMode::Create) {
    return Store::open(kPlace, "demo", mode, world);
  }
  std::unique_ptr<Store> locked() {
    auto opened = open();
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    const Status taken = (*opened)->lock("apply", std::chrono::milliseconds(0));
    EXPECT_TRUE(taken.ok()) << taken.text();
    return std::move(*opened);
  }

  // A node with attributes of about `bytes` bytes, which do not compress well.
  ResourceRecord node(int number, size_t bytes = 400) {
    ResourceRecord record;
    record.address = "worker[" + std::to_string(number) + "]";
    record.type = "node";
    record.cloud = "ec2";
    record.id = "i-" + noise(16);
    record.token = noise(32);
    record.system = "worker";
    record.ordinal = record.number = number;
    record.attributes = {{"noise", noise(bytes)}};
    return record;
  }
  std::string noise(size_t length) {
    std::string text(length, '0');
    for (char& c : text) c = "0123456789abcdef"[random() % 16];
    return text;
  }
  void put_nodes(Store& store, int first, int last) {
    std::vector<StateChange> changes;
    for (int i = first; i < last; ++i) changes.push_back(state_change::PutResource{node(i)});
    const auto put = store.commit(changes);
    ASSERT_TRUE(put.ok()) << put.status().text();
  }

  std::vector<std::string> parts() {
    std::vector<std::string> found;
    for (const auto& [path, body] : buckets.objects())
      if (path.starts_with(kPartsFolder)) found.push_back(path);
    return found;
  }
  // All that a state says, also what runs have begun and done.
  static std::string all_of(Store& store) {
    auto snapshot = store.snapshot();
    auto open = store.open_intents();
    auto history = store.history(1000);
    if (!snapshot.ok() || !open.ok() || !history.ok()) return "unreadable";
    snapshot->at_work.clear();  // a request of its own
    std::string text = whole_json(*snapshot).dump(1);
    for (const Intent& intent : *open) text += std::to_string(intent.id) + " " + intent.address + "\n";
    for (const HistoryEntry& entry : *history) text += entry.command + " " + entry.summary + "\n";
    return text;
  }
  std::string all_that_is_stored() {
    auto store = open(OpenMode::Read);
    return store.ok() ? all_of(**store) : store.status().text();
  }

  // What a test does with requests from now on; nothing: the bucket answers. Waits for the one under way.
  using Fault = std::function<std::optional<std::string>(const std::string& request)>;
  void set_fault(Fault fault) {
    std::lock_guard guard(fault_mutex);
    this->fault = std::move(fault);
  }

  std::mutex fault_mutex;
  Fault fault;
  std::mt19937 random{7};
  Buckets buckets;
  ScriptedServer server{[this](const std::string& request) {
    std::lock_guard guard(fault_mutex);
    if (fault)
      if (std::optional<std::string> answer = fault(request)) return *answer;
    return buckets.answer(request);
  }};
  TemporaryFolder folder;
  World world{real_world().clock, real_world().files, real_world().random,
              Buckets::environment(folder.path("home"), server.url(""))};
};

inline bool puts(const std::string& request, const std::string& path) {
  return request.starts_with("PUT " + path);
}
inline size_t body_bytes(const std::string& request) { return request.size() - request.find("\r\n\r\n") - 4; }

}  // namespace radl::test
