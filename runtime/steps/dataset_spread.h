// Nodes pass a dataset on to each other, so that this computer sends it once instead of once per node: the
// first node gets it from here and gives it to a second, these two to two others, and so on.
//
// A node fetches by SSH over the private network, with a key created for this one fetch. On the other node
// the key permits one command, which writes the requested files as an archive, and is removed afterwards.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/steps/step_runner.h"

namespace radl {

// Assigns givers and takers in one run.
class DatasetSpread {
 public:
  // One node's turn for one content, until it ends.
  struct Turn {
    std::optional<NodeHandle> giver;  // nullopt: this computer sends it
    std::string content, group;
  };
  // Waits until a node can give it, or this computer is free to send it. `group`: nodes that can reach each
  // other. Cancelled or Timeout: `stop` came first.
  Result<Turn> begin(const std::string& content, const std::string& group, const Stop& stop);
  // `taker` has it now; nullptr: it does not.
  void end(const Turn& turn, const NodeHandle* taker);

 private:
  struct Giver {
    NodeHandle node;
    bool busy = false;
  };
  struct State {
    bool sending = false;  // from this computer
    std::vector<Giver> givers;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, State> states_;  // by content and group
};

// The group of nodes that can reach each other: cloud and common network. "": the node cannot take part (its
// files are local, or there is no way to authenticate it to others).
std::string spread_group(const NodeHandle& node);

// The part of a dataset to fetch: lines "SHA256  ./NAME" for its files.
struct Fetched {
  std::string directory;  // on both nodes
  std::string list;
};
std::vector<std::string> names_of(std::string_view list);
// Copies from `giver` to `taker`; verifies each file's digest. Unsupported: the taker has no SSH client.
Status fetch_from_node(const NodeHandle& taker, const NodeHandle& giver, const Fetched& what,
                       const Context& context);

}  // namespace radl
