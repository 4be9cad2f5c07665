// Nodes that have a dataset give it to those that lack it, so that this computer sends it once and not once
// for each: the first node gets it from here, it gives it to a second, these two to two others, and so on.
//
// A node fetches by SSH over the private network, with a key that it makes for this one fetch. At the other
// it is good for one command, which writes the wanted files as an archive, and it is taken away afterwards.
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

// Who gives what to whom, in one run.
class DatasetSpread {
 public:
  // Of one node and one content, until it ends.
  struct Turn {
    std::optional<NodeHandle> giver;  // none: it comes from this computer
    std::string content, group;
  };
  // Waits until a node that has it can give it, or nobody else is given it by this computer. `group`: nodes
  // that reach each other. Cancelled or Timeout: `stop` came first.
  Result<Turn> begin(const std::string& content, const std::string& group, const Stop& stop);
  // `taker` has it now (or not, where it is none).
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

// By what a node and its like reach each other: the cloud and a network that it is in. "": it cannot take
// part (its files lie on this computer, or nothing is known by which others could trust it).
std::string spread_group(const NodeHandle& node);

// What of a dataset is fetched: the lines "SHA256  ./NAME" of its files.
struct Fetched {
  std::string directory;  // on both nodes
  std::string list;
};
std::vector<std::string> names_of(std::string_view list);
// To `taker` from `giver`; every file is compared with its digest. Unsupported: the taker has no SSH client.
Status fetch_from_node(const NodeHandle& taker, const NodeHandle& giver, const Fetched& what,
                       const Context& context);

}  // namespace radl
