// Real local nodes for tests: a folder that goes away, a cloud, nodes with their sshd, connections.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/digest.h"
#include "common/files.h"
#include "runtime/clouds/local/isolation.h"
#include "runtime/clouds/local/local_cloud.h"
#include "runtime/clouds/local/network.h"
#include "runtime/net/ssh/target.h"
#include "runtime/steps/step_runner.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_target.h"

namespace radl::test {

inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

// Skips the test, with the reason, where this machine does not let us isolate nodes (containers without
// privileges).
inline void skip_without_isolation(bool with_network = true) {
  TemporaryFolder folder(TemporaryFolder::Place::Disk);
  const Context context{.work_directory = folder.path(), .environment = environment_of_process()};
  std::string why = local::why_not_isolated(context);
  if (why.empty() && with_network) why = local::why_no_network(local::Egress::Open, context);
  if (!why.empty()) GTEST_SKIP() << "no isolation here: " << why;
}

// Nodes of one infrastructure; destroys them all at the end.
class TestNodes {
 public:
  explicit TestNodes(local::Isolation isolation = local::Isolation::Off)
      : cloud(local::make_cloud({isolation})) {
    context.infrastructure = "test-" + to_hex(random_bytes(4));
    context.work_directory = folder.path("work");
    context.secrets = &secrets;
  }
  ~TestNodes() {
    for (const char* type : {"node", "network", "key"}) {
      for (const Seen& seen : all()) {
        if (seen.type != type) continue;
        EXPECT_TRUE(destroyed(seen));
      }
    }
  }

  Seen make(const std::string& address) {
    return make(address, {{"hostname", host_name(address)}}, "token-" + address);
  }
  Seen make(const std::string& address, const Json& spec, const std::string& token, Cloud* by = nullptr) {
    if (!by) by = cloud.get();
    Asked asked = by->ask_create(context, order("node", address, spec, token));
    if (asked.answer != Asked::Answer::Accepted) ADD_FAILURE() << asked.status.text();
    return find(token).value_or(Seen());
  }
  static Order order(const std::string& type, const std::string& address, const Json& spec,
                     const std::string& token) {
    Order order;
    order.type = type;
    order.address = address;
    order.spec = spec;
    order.token = token;
    return order;
  }

  std::optional<Seen> find(const std::string& token) { return one({{token}, {}, false}); }
  std::optional<Seen> read(const std::string& id) { return one({{}, {id}, false}); }
  std::vector<Seen> all() { return look({{}, {}, true}); }

  testing::AssertionResult destroyed(const Seen& seen) {
    Order order;
    order.type = seen.type;
    order.id = seen.id;
    Asked asked = cloud->ask_destroy(context, order);
    if (asked.answer != Asked::Answer::Accepted) return testing::AssertionFailure() << asked.status.text();
    if (read(seen.id)) return testing::AssertionFailure() << seen.id << " is still there";
    return testing::AssertionSuccess();
  }

  // A node as the steps see it, with a connection that is kept.
  NodeHandle handle(const std::string& address) {
    Seen made = make(address);
    ir::Node& node = nodes[address];
    node.address = address;
    node.system = address.substr(0, address.find('['));
    node.number = static_cast<int>(nodes.size()) - 1;
    NodeHandle handle;
    handle.address = address;
    handle.node = &node;
    handle.attributes = made.attributes;
    auto remote = std::make_shared<std::unique_ptr<Remote>>();
    handle.connect = [remote, attributes = made.attributes]() -> Result<Remote*> {
      if (!*remote) {
        auto target = test::target_of(attributes);
        if (!target) return target.status();
        *remote = ssh::make_remote(*target);
      }
      return remote->get();
    };
    return handle;
  }

  static std::string host_name(const std::string& address) {
    std::string name;
    for (char c : address)
      name += std::isalnum(static_cast<unsigned char>(c)) ? std::string(1, c) : c == '[' ? "-" : "";
    return name + ".localdomain";
  }

  TemporaryFolder folder{TemporaryFolder::Place::Disk};
  ir::Secrets secrets;
  Context context{.environment = environment_of_process()};
  std::unique_ptr<Cloud> cloud;
  std::map<std::string, ir::Node> nodes;

 private:
  std::vector<Seen> look(const Query& query) {
    auto all = cloud->look(context, query);
    if (!all) ADD_FAILURE() << all.status().text();
    return all ? *all : std::vector<Seen>();
  }
  std::optional<Seen> one(const Query& query) {
    std::vector<Seen> found = look(query);
    EXPECT_LE(found.size(), 1u);
    return found.empty() ? std::optional<Seen>() : found.front();
  }
};

}  // namespace radl::test
