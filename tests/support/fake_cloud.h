// A cloud that only declares: keys, networks and machines of several prices, for tests of plans. Nothing is
// ever asked of it.
#pragma once

#include <algorithm>
#include <set>

#include "runtime/clouds/cloud.h"
#include "runtime/clouds/naming.h"

namespace radl::test {

class FakeCloud : public Cloud {
 public:
  explicit FakeCloud(std::string id = "local") : id_(*CloudId::parse(id)) {}

  std::vector<Offer> offers;             // of every node; empty: it costs nothing
  Money volume_price;                    // not zero: each node has a volume of its own
  bool memory_in_place = false;          // else memory is fixed when a machine is made
  bool starts_again = true;              // a machine that is stopped
  bool first_use = false;                // the cloud shows host keys late
  std::vector<std::string> group_rules;  // of a security group; empty: there is none
  std::vector<std::string> notes;        // of the design
  mutable std::vector<Json> surveyed;    // facts of each design's survey
  std::vector<std::string> asked_of;     // nodes of the surveys

  const CloudId& id() const override { return id_; }
  Result<Survey> survey(const Context&, const ir::Program& program) override {
    for (const ir::Node& node : program.nodes) asked_of.push_back(node.address);
    return Survey{1e9, {{"seen", true}}};
  }

  Status can_make(const ir::Node& node, const DesignInput&) const override {
    auto memory = node.requirements.find("memory.size");
    if (memory != node.requirements.end() && *memory->second.min > 1e12)
      return Status(Code::Invalid, "no machine has that much memory");
    return {};
  }

  Result<Design> design(const DesignInput& input) const override {
    surveyed.push_back(input.survey.facts);
    Design design;
    design.notes = notes;
    Wanted key{key_address(id_), "key", {{"type", "ed25519"}}, {}, "ed25519 key pair for SSH"};
    design.resources.push_back(key);
    if (!group_rules.empty())
      design.resources.push_back(
          {"access", "security_group", {{"rules", group_rules}}, {}, "security group"});
    for (const ir::Network* network : networks_to_make(input)) {
      design.resources.push_back({network_address(id_, input, *network),
                                  "network",
                                  network_spec(*network),
                                  {key.address},
                                  network_summary(*network)});
    }
    for (const ir::Node* node : input.nodes) add_node(input, *node, design);
    return design;
  }

  // By values: a disk grows and does not shrink, a name is changed by a restart.
  Impact impact(const std::string& type, const Json& before, const Json& after) const override {
    auto differs = [&](const char* field) {
      return before.value(field, Json()) != after.value(field, Json());
    };
    if (type == "network")
      return differs("public") ? replace("a network is public or private from its making") : in_place();
    if (differs("memory.size") && !memory_in_place) return replace("");
    if (after.value("disk", 0.0) < before.value("disk", 0.0)) return replace("a disk does not shrink");
    if (differs("type")) return replace("");
    if (differs("state") && !starts_again) return replace("");
    if (differs("host_name")) return {Impact::Kind::Restart, "a name is read when a machine starts"};
    return in_place();
  }

  bool trusts_on_first_use() const override { return first_use; }

  Asked ask_create(const Context&, const Order&) override { return Asked::refused(none()); }
  Asked ask_update(const Context&, const Order&) override { return Asked::refused(none()); }
  Asked ask_destroy(const Context&, const Order&) override { return Asked::refused(none()); }
  Result<std::vector<Seen>> look(const Context&, const Query&) override { return none(); }
  std::chrono::milliseconds settles_after() const override { return {}; }

 protected:
  virtual void add_node(const DesignInput& input, const ir::Node& node, Design& design) const {
    Wanted wanted;
    wanted.address = wanted.node = node.address;
    wanted.type = "node";
    wanted.references = {key_address(id_)};
    for (const ir::Network* network : networks_of(input, node))
      wanted.references.push_back(network_address(id_, input, *network));
    if (!volume_price.zero()) {
      Wanted volume{"volume." + node.address, "volume", {{"size", 1}}, {}, "volume"};
      volume.offers = {{"disk", "", volume_price}};
      wanted.references.push_back(volume.address);
      design.resources.push_back(std::move(volume));
    }
    wanted.spec = node_spec(node);
    wanted.offers = offers;
    for (Offer& offer : wanted.offers) offer.facts.as_of = "2025-01-15";
    wanted.summary = node_summary(node, id_.text(), offers.empty() ? Offer{} : offers[0]);
    wanted.seconds = 2;
    design.resources.push_back(std::move(wanted));
  }

  static Json node_spec(const ir::Node& node) {
    auto memory = node.requirements.find("memory.size");
    Json spec = {{"memory.size", memory == node.requirements.end() ? 0 : *memory->second.min},
                 {"host_name", node.interfaces.empty() ? "" : node.interfaces[0].host_name}};
    if (auto disk = node.requirements.find("disk.0.size"); disk != node.requirements.end())
      spec["disk"] = *disk->second.min;
    return spec;
  }

 private:
  static Impact in_place() { return {Impact::Kind::InPlace, ""}; }
  static Impact replace(std::string why) { return {Impact::Kind::Replace, std::move(why)}; }
  static Status none() { return {Code::Unsupported, "this cloud only declares"}; }

  CloudId id_;
};

}  // namespace radl::test
