// The isolation and network kind of an infrastructure's nodes, and their shared network.
#pragma once

#include <set>
#include <string>

#include "common/status.h"
#include "runtime/base/context.h"
#include "runtime/clouds/local/local_cloud.h"
#include "runtime/clouds/local/network.h"

namespace radl::local {

// Not thread-safe.
class CommonNetwork {
 public:
  explicit CommonNetwork(Options options) : options_(std::move(options)) {}

  // Whether new nodes are isolated. Unsupported: they must be but cannot.
  Result<bool> isolated(const Context& context);
  // Creates the infrastructure's shared network if missing, and returns it.
  Result<Network> join(const Context& context);
  // Removes it if no node or network record is left, except the one with ID `but`.
  Status leave(const Context& context, const std::string& but = {});

 private:
  // Chooses the network kind for an infrastructure without one.
  Result<Network> choose(const Context& context);
  void say_once(const Context& context, const std::string& line);

  Options options_;
  std::set<std::string> said_;
  std::set<std::string> raised_;  // networks that this process has ensured
};

}  // namespace radl::local
