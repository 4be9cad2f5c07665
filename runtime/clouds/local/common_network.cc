#include "runtime/clouds/local/common_network.h"

#include <fmt/format.h>

#include "common/files.h"
#include "runtime/clouds/local/isolation.h"
#include "runtime/clouds/local/node_directory.h"
#include "runtime/clouds/local/shared_record.h"

namespace radl::local {

void CommonNetwork::say_once(const Context& context, const std::string& line) {
  if (said_.insert(context.infrastructure + "\n" + line).second) context.log(line);
}

Result<bool> CommonNetwork::isolated(const Context& context) {
  if (options_.isolation == Isolation::Off) return false;
  std::string why = why_not_isolated(context);
  if (Status stopped = context.stop.check(); !stopped.ok()) return stopped;
  if (why.empty()) return true;
  if (options_.isolation == Isolation::Required)
    return Status(Code::Unsupported, "nodes cannot be isolated here: " + why);
  say_once(context, fmt::format("local nodes share this computer's files, processes and network ({})", why));
  return false;
}

Result<Network> CommonNetwork::choose(const Context& context) {
  using enum NetworkChoice;
  auto isolated_nodes = isolated(context);
  if (!isolated_nodes) return isolated_nodes.status();
  bool must = options_.network == Own || options_.network == Closed ||
              (options_.network == Auto && options_.isolation == Isolation::Required);
  if (options_.network == Shared || (!*isolated_nodes && !must)) return Network();
  Egress egress = options_.network == Closed ? Egress::Closed : Egress::Open;
  std::string why =
      *isolated_nodes ? why_no_network(egress, context) : "the nodes themselves are not isolated";
  if (Status stopped = context.stop.check(); !stopped.ok()) return stopped;
  if (why.empty()) return new_network(context.infrastructure, egress);
  if (must) return Status(Code::Unsupported, "nodes cannot have a network of their own here: " + why);
  say_once(context,
           fmt::format("local nodes share this computer's network, by loopback addresses ({})", why));
  return Network();
}

Result<Network> CommonNetwork::join(const Context& context) {
  if (Status s = make_directories(context.work_directory, 0700); !s.ok()) return s;
  auto known = load_network(context.work_directory);
  if (!known) return known.status();
  if (!*known) {
    for (const auto& node : all_nodes(context.work_directory)) {
      if (auto record = node.load()) known = std::optional<Network>(network_of(*record));
    }
    if (!*known) {
      auto chosen = choose(context);
      if (!chosen) return chosen;
      known = std::optional<Network>(*chosen);
    }
    if (Status s = save_network(context.work_directory, **known); !s.ok()) return s;
  }
  if (!raised_.count((*known)->name)) {
    if (Status s = raise_network(**known, context); !s.ok()) return s;
    raised_.insert((*known)->name);
  }
  return **known;
}

Status CommonNetwork::leave(const Context& context, const std::string& but) {
  if (!all_nodes(context.work_directory).empty()) return {};
  auto shared = load_shared(context.work_directory);
  if (!shared) return shared.status();
  for (const SharedRecord& record : *shared) {
    if (record.type == "network" && record.id != but) return {};
  }
  raised_.clear();
  return remove_network(context);
}

}  // namespace radl::local
