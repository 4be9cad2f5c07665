#include "runtime/plan/desired.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/clouds/fitting.h"
#include "runtime/plan/ordinals.h"
#include "runtime/plan/soft_prices.h"
#include "runtime/plan/softs.h"

namespace radl {

namespace {

// The nodes of one cloud, and the design input for it.
struct Share {
  Cloud* cloud = nullptr;
  DesignInput input;
  size_t checked = 0;  // of input.nodes
};

class Builder {
 public:
  explicit Builder(const PlanInput& input) : input_(input) {}

  Result<DesiredResources> build() {
    for (const ir::Node& node : input_.program.nodes) share_out(node);
    for (const ir::Node& node : input_.program.nodes) check(node);
    if (order_.size() > 1) refuse_divided_jobs();
    if (!problems_.empty()) return invalid(problems_text());
    for (const std::string& id : order_) {
      if (Status designed = design(id, shares_.at(id)); !designed.ok()) return designed;
    }
    if (!problems_.empty()) return invalid(problems_text());
    note_soft_prices();
    note_divided_networks();
    return std::move(result_);
  }

 private:
  void share_out(const ir::Node& node) {
    const std::string id = input_.clouds.id_for(node);
    Cloud* cloud = input_.clouds.find(id);
    if (!cloud) return;
    auto known = shares_.find(id);
    if (known == shares_.end()) {
      auto survey = input_.surveys.find(id);
      const bool plain = id == input_.clouds.id_for(ir::Node());
      DesignInput asked{
          input_.program, {}, survey == input_.surveys.end() ? none_ : survey->second, input_.catalog, plain};
      known = shares_.emplace(id, Share{cloud, std::move(asked)}).first;
      order_.push_back(id);
      result_.clouds.insert(id);
    }
    known->second.input.nodes.push_back(&node);
  }

  // Checks that it can be created, with as many of its soft features as possible.
  void check(const ir::Node& node) {
    const std::string id = input_.clouds.id_for(node);
    auto known = shares_.find(id);
    if (known == shares_.end()) {
      problem(node, asked_for(node) + input_.clouds.why_not(id).text());
      return;
    }
    Share& share = known->second;
    const ir::Node*& slot = share.input.nodes[share.checked++];
    if (Status can = share.cloud->can_make(node, share.input); !can.ok()) {
      problem(node, can.text());
      return;
    }
    if (!node.softs.empty()) slot = with_softs(node, share);
  }

  // Why it must be in the cloud that cannot provide it; "" if that is the run's default.
  std::string asked_for(const ir::Node& node) const {
    if (!node.cloud.empty()) return "its `deploy` names " + node.cloud + ": ";
    const std::string name = input_.clouds.name_for(node);
    if (name == input_.clouds.asked || name == input_.clouds.fallback) return {};
    return "its image is for " + name + " (`--cloud local` would try it on this computer): ";
  }

  // The node with those of its soft features that it gets; what it does not get becomes a note of its system.
  const ir::Node* with_softs(const ir::Node& node, const Share& share) {
    SoftOutcome outcome = resolve_softs(
        node, [&](const ir::Node& wanted) { return share.cloud->can_make(wanted, share.input); });
    for (const std::string& why : outcome.dropped) {
      std::string text = why;
      std::string prefix = node.address + ": ";
      if (size_t at = text.find(prefix); at != text.npos) text.erase(at, prefix.size());
      add_note(node.system + ": soft features are not met, " + text);
    }
    result_.resolved.push_back(outcome.node);
    if (!outcome.taken.empty()) preferring_.push_back({share.cloud, std::move(outcome)});
    return &result_.resolved.back();
  }

  // Once for each system in each cloud: its nodes ask for the same.
  void note_soft_prices() {
    std::map<std::pair<const Cloud*, std::string>, size_t> nodes;
    for (const auto& [cloud, outcome] : preferring_) ++nodes[{cloud, outcome.node.system}];
    for (const auto& [cloud, outcome] : preferring_) {
      const size_t count = std::exchange(nodes[{cloud, outcome.node.system}], 0);
      if (count == 0) continue;
      const auto made = std::find_if(result_.resources.begin(), result_.resources.end(),
                                     [&address = outcome.node.address](const Desired& each) {
                                       return each.node != nullptr && each.wanted.address == address;
                                     });
      if (made == result_.resources.end() || !made->has_offers()) continue;
      const DesignInput& input = shares_.at(made->cloud).input;
      for (const std::string& note :
           soft_price_notes(*cloud, input, outcome, made->wanted.offers[made->offer], count))
        add_note(note);
    }
  }

  Status design(const std::string& id, const Share& share) {
    Result<Design> design = share.cloud->design(share.input);
    if (!design.ok()) {
      add_problem(design.status().text());
      return {};
    }
    std::unordered_map<std::string, const ir::Node*> nodes;
    for (const ir::Node* node : share.input.nodes) nodes[node->address] = node;
    for (Wanted& wanted : design->resources) {
      Desired desired;
      desired.cloud = id;
      desired.offer = wanted.chosen;
      if (Status sound = check_design(id, wanted, nodes, desired.node); !sound.ok()) return sound;
      desired.wanted = std::move(wanted);
      if (desired.node != nullptr && desired.has_offers())
        if (std::string text = training_note(input_.program, *desired.node, id.substr(0, id.find(':')),
                                             desired.wanted.offers[desired.offer]);
            !text.empty())
          add_note(std::move(text));
      result_.resources.push_back(std::move(desired));
    }
    if (!nodes.empty()) return internal_error("cloud " + id + " designed no " + nodes.begin()->first);
    for (const std::string& note : design->notes) add_note(note);
    return {};
  }

  // What everything after this takes for granted. Takes the node out of `nodes` that the resource is.
  Status check_design(const std::string& id, const Wanted& wanted,
                      std::unordered_map<std::string, const ir::Node*>& nodes, const ir::Node*& is_node) {
    const std::string what = "cloud " + id + " designed " + wanted.address;
    if (!addresses_.insert(wanted.address).second) return internal_error(what + " more than once");
    if (!wanted.offers.empty() && wanted.chosen >= wanted.offers.size())
      return internal_error(what + " with an invalid offer");
    for (const std::string& reference : wanted.references) {
      if (!addresses_.count(reference)) return internal_error(what + " before " + reference);
    }
    if (wanted.node.empty()) return {};
    auto node = nodes.find(wanted.node);
    if (node == nodes.end() || wanted.node != wanted.address)
      return internal_error(what + " for the node '" + wanted.node + "'");
    is_node = node->second;
    nodes.erase(node);
    return {};
  }

  // The job's processes could not reach each other: private networks do not span clouds or regions. Existing
  // machines may be reachable from anywhere; the user knows.
  void refuse_divided_jobs() {
    std::map<std::string, std::string> cloud_of;  // by a node's address
    for (const ir::Node& node : input_.program.nodes) cloud_of[node.address] = input_.clouds.id_for(node);
    for (const ir::Step& step : input_.program.steps) {
      if (step.kind == ir::StepKind::Training || step.kind == ir::StepKind::Program)
        refuse_divided_job(step, cloud_of);
    }
  }

  void refuse_divided_job(const ir::Step& step, const std::map<std::string, std::string>& cloud_of) {
    std::map<std::string, std::string> clouds;  // id -> the first of its nodes
    for (const std::string& address : step.nodes) {
      const auto found = cloud_of.find(address);
      if (found != cloud_of.end() && !found->second.starts_with("hosts"))
        clouds.emplace(found->second, address);
    }
    if (clouds.size() < 2 || is_joined(step)) return;
    std::string list;
    for (const auto& [id, address] : clouds) list += (list.empty() ? "" : ", ") + address + " in " + id;
    add_problem(step.id + ": its nodes are in several clouds or regions (" + list +
                "), and no private network reaches from one into another; deploy all of them in one, or join "
                "them by a network "
                "with `wireguard = 'yes'`");
  }

  // The network of the address by which the members of a job reach each other; empty: WireGuard joins none.
  static std::string joined_network(const ir::Node& node) {
    for (const ir::Interface& interface : node.interfaces)
      if (!interface.wireguard_ip.empty()) return interface.network;
    return "";
  }

  bool is_joined(const ir::Step& step) const {
    std::set<std::string> networks;
    for (const ir::Node& node : input_.program.nodes) {
      if (std::find(step.nodes.begin(), step.nodes.end(), node.address) != step.nodes.end())
        networks.insert(joined_network(node));
    }
    return networks.size() == 1 && !networks.begin()->empty();
  }

  void problem(const ir::Node& node, const std::string& text) {
    const std::string prefix = node.address + ": ";
    problems_.push_back({node.address, text.starts_with(prefix) ? text.substr(prefix.size()) : text});
  }

  void add_problem(const std::string& text) { problems_.push_back({"", text}); }

  // One line per problem; equal problems of a system's nodes are combined: "w[0..99]: ..".
  std::string problems_text() const {
    struct Line {
      std::string before, after;  // the ordinals
      std::vector<int> ordinals;
    };
    std::vector<Line> lines;
    std::map<std::pair<std::string, std::string>, size_t>
        known;  // a system and what is wrong with it -> its line
    for (const auto& [node, why] : problems_) {
      std::string system, suffix;
      int ordinal = 0;
      if (!split_ordinal(node, system, ordinal, suffix)) {
        lines.push_back({(node.empty() ? "" : node + ": ") + why, "", {}});
        continue;
      }
      const auto [at, added] = known.try_emplace({system, suffix + ": " + why}, lines.size());
      if (added) lines.push_back({system + "[", "]" + at->first.second, {}});
      lines[at->second].ordinals.push_back(ordinal);
    }
    std::string text;
    for (const Line& line : lines)
      text += (text.empty() ? "" : "\n") + line.before + ranges(line.ordinals) + line.after;
    return text;
  }

  void add_note(const std::string& note) {
    if (noted_.insert(note).second) result_.notes.push_back(note);
  }

  void note_divided_networks() {
    std::map<std::string, std::set<std::string>> clouds;  // of a network
    for (const auto& [id, share] : shares_) {
      for (const ir::Node* node : share.input.nodes) {
        for (const ir::Interface& interface : node->interfaces)
          if (interface.wireguard_ip.empty()) clouds[interface.network].insert(id);
      }
    }
    for (const ir::Network& network : input_.program.networks) {
      const std::set<std::string>& of = clouds[network.name];
      if (of.size() < 2 || network.reference) continue;
      std::string list;
      for (const std::string& name : of) list += (list.empty() ? "" : ", ") + name;
      add_note("network '" + network.name + "' is in several clouds (" + list +
               "). Each cloud gets a separate network, and nodes of different clouds cannot reach each other "
               "in it; "
               "`wireguard = 'yes'` joins them");
    }
  }

  const PlanInput& input_;
  const Survey none_;
  std::vector<std::pair<const Cloud*, SoftOutcome>> preferring_;  // nodes that get soft features
  std::vector<std::string> order_;                                // clouds, by first use
  std::map<std::string, Share> shares_;
  std::unordered_set<std::string> addresses_;
  std::set<std::string> noted_;
  std::vector<std::pair<std::string, std::string>> problems_;  // of a node, or of none, and what
  DesiredResources result_;
};

}  // namespace

Result<DesiredResources> desired_resources(const PlanInput& input) { return Builder(input).build(); }

}  // namespace radl
