// Real local nodes for tests: a folder that goes away, a provider, nodes with their sshd, connections.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "common/digest.h"
#include "common/files.h"
#include "runtime/net/ssh/target.h"
#include "runtime/providers/local/isolation.h"
#include "runtime/providers/local/local_provider.h"
#include "runtime/providers/local/network.h"
#include "runtime/steps/step_runner.h"

namespace radl::test {

class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(std::filesystem::temp_directory_path() / ("radl-test-" + to_hex(random_bytes(6)))) {
    std::filesystem::create_directories(path_);
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path(const std::string& below = "") const {
    return below.empty() ? path_.string() : (path_ / below).string();
  }

 private:
  std::filesystem::path path_;
};

inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

// Skips the test, with the reason, where this machine does not let us isolate nodes (containers without
// privileges).
inline void skip_without_isolation(bool with_network = true) {
  TemporaryFolder folder;
  std::string why = local::why_not_isolated(folder.path());
  if (why.empty() && with_network) why = local::why_no_network(local::Egress::Open);
  if (!why.empty()) GTEST_SKIP() << "no isolation here: " << why;
}

// Nodes of one infrastructure; destroys them all at the end.
class TestNodes {
 public:
  explicit TestNodes(local::Isolation isolation = local::Isolation::Off)
      : provider(local::make_provider({isolation})) {
    context.infrastructure = "test-" + to_hex(random_bytes(4));
    context.work_directory = folder.path("work");
    context.secrets = &secrets;
  }
  ~TestNodes() {
    auto all = provider->list(context);
    if (!all) return;
    for (const auto& made : *all) {
      if (Status s = provider->destroy(context, made.kind, made.id); !s.ok()) ADD_FAILURE() << s.text();
    }
  }

  Made make(const std::string& address) {
    auto made = provider->create(context, ResourceKind::Node, address, {{"hostname", host_name(address)}},
                                 "token-" + address);
    if (!made) {
      ADD_FAILURE() << made.status().text();
      return {};
    }
    return *made;
  }

  // A node as the steps see it, with a connection that is kept.
  NodeHandle handle(const std::string& address) {
    Made made = make(address);
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
        auto target = ssh::target_of(attributes);
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

  TemporaryFolder folder;
  ir::Secrets secrets;
  Context context;
  std::unique_ptr<Provider> provider;
  std::map<std::string, ir::Node> nodes;
};

}  // namespace radl::test
