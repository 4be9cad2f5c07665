// Which kind of isolation and network an infrastructure's nodes have, and the network that they share.
#pragma once

#include <set>
#include <string>

#include "common/status.h"
#include "runtime/base/context.h"
#include "runtime/clouds/local/local_cloud.h"
#include "runtime/clouds/local/network.h"

namespace radl::local {

// One thread at a time.
class CommonNetwork {
 public:
  explicit CommonNetwork(Options options) : options_(std::move(options)) {}

  // Whether new nodes are isolated; Unsupported where they must be and cannot.
  Result<bool> isolated(const Context& context);
  // The network that all nodes of the infrastructure are in; it is there when this returns.
  Result<Network> join(const Context& context);
  // Ends it where neither a node nor a network's record is left, apart from the one of the id `but`.
  Status leave(const Context& context, const std::string& but = {});

 private:
  // The kind of network for an infrastructure that has none yet.
  Result<Network> choose(const Context& context);
  void say_once(const Context& context, const std::string& line);

  Options options_;
  std::set<std::string> said_;
  std::set<std::string> raised_;  // networks that this process has seen to
};

}  // namespace radl::local
