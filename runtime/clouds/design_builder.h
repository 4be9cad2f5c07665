// Builder for every cloud's design.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/text.h"
#include "runtime/clouds/auto_stop.h"
#include "runtime/clouds/cloud.h"
#include "runtime/clouds/fitting.h"
#include "runtime/clouds/naming.h"
#include "runtime/clouds/user_data.h"
#include "runtime/clouds/wishes.h"

namespace radl {

class DesignBuilder {
 protected:
  // A cloud's maximum user data in bytes, and its name for messages.
  struct UserDataLimit {
    size_t bytes;
    const char* cloud;
  };
  // `seconds`: typical duration of a request for a resource. `unused`: system features that other clouds use
  // and this one ignores.
  DesignBuilder(const CloudId& cloud, const DesignInput& input, double seconds, const UserDataLimit& limit,
                std::vector<std::string> unused = {})
      : cloud_(cloud),
        input_(input),
        seconds_(seconds),
        limit_(limit),
        unused_(std::move(unused)),
        recipes_(cloud_init_recipes(input.program)) {}

  Wanted& add(std::string address, const char* type, std::string summary, Json spec,
              std::vector<std::string> references) {
    Wanted wanted;
    wanted.address = std::move(address);
    wanted.type = type;
    wanted.summary = std::move(summary);
    wanted.spec = std::move(spec);
    wanted.references = std::move(references);
    wanted.seconds = seconds_;
    return design_.resources.emplace_back(std::move(wanted));
  }

  // The common part of every machine's spec: groups, host names, the file's tags and recipes for
  // cloud_init.
  Result<Json> machine_spec(const ir::Node& node, std::vector<std::string> groups) const {
    auto tags = tags_wanted(node);
    if (!tags.ok()) return tags.status();
    std::sort(groups.begin(), groups.end());
    Json spec = {{"groups", std::move(groups)}, {"hostname", node_host_name(node)}};
    if (Json names = further_host_names(node); !names.empty()) spec["names"] = std::move(names);
    if (!tags->empty()) spec["tags"] = std::move(*tags);
    if (Status added = add_recipes(node, spec); !added.ok()) return added;
    return spec;
  }

  // Sets spec["cloud_init"] if the node has such recipes.
  Status add_recipes(const ir::Node& node, Json& spec) const {
    const auto recipes = recipes_.find(node.address);
    if (recipes == recipes_.end()) return {};
    spec["cloud_init"] = recipes->second;
    Json whole = spec;
    if (auto stop = auto_stop_wanted(node); stop.ok() && *stop) whole["stop"] = to_json(**stop);
    return check_user_data(node, whole, limit_.bytes, limit_.cloud);
  }

  // `seconds`: boot time.
  void add_machine(const ir::Node& node, const char* type, Json spec, std::vector<std::string> references,
                   std::vector<Offer> offers, double seconds) {
    Wanted& wanted = add(node.address, type, node_summary(node, cloud_.text(), offers.front()),
                         std::move(spec), std::move(references));
    wanted.offers = std::move(offers);
    wanted.node = node.address;
    wanted.seconds = seconds;
    if (std::string text = gpu_note(node); !text.empty()) note(text);
    note_features(fmt::format("system '{}'", node.system), features_without_effect(node, unused_));
    if (wanted.spec.contains("stop"))
      wanted.summary += ", " + auto_stop_text(auto_stop_from_json(wanted.spec["stop"]));
  }

  // Names of further disks ("disk", "volume") and of the cloud.
  struct Volumes {
    const char *type, *noun, *cloud;
    std::string zone;                     // required zone; "": any
    std::vector<std::string> references;  // of each volume
    std::string type_unsaid = {};         // type if the file names none; "": the cloud's default
    // Parses a URL in `disk.N.image.url` that names an existing disk; "": not one of this cloud. If not set,
    // further disks are always empty.
    std::function<Result<std::string>(const std::string& url)> existing = {};
    std::string own_type = {};  // `disk.N.type` of disks that belong to the machine; "": unsupported
    // The default encryption of disks without a key, for a note; "": it cannot be configured.
    std::string encrypted_by = {};
  };
  // Adds the disks of a node: the first as spec["root"], further ones as spec["volumes"] by device letter: a
  // resource's address, {"existing": NAME} for an existing disk, which is attached and kept, or {"own_gib":
  // SIZE} for one deleted with the machine.
  Status add_volumes(const ir::Node& node, const Volumes& volumes, Json& spec,
                     std::vector<std::string>& references);

  // Sets made["encryption_key"] if the file requests it and the cloud supports it; otherwise adds a note.
  void add_encryption(const ir::Node& node, const ir::Disk& disk, const Volumes& volumes, Json& made);

  // Assigns an existing disk to this node. Invalid: another node has it.
  Status claim(const ir::Node& node, const std::string& feature, const std::string& noun,
               const std::string& name);

  // Notes which of these features of a network have no effect in this cloud.
  void note_without_effect(const ir::Network& network, const std::vector<std::string>& features) {
    note_features("network " + network.name, features_without_effect(network, features));
  }

  // Notes that a node's elastic_ip gives it no public address.
  void note_no_address(const ir::Node& node) {
    if (says_yes(node, "elastic_ip"))
      note(fmt::format("system '{}': elastic_ip has no effect: none of its networks is public", node.system));
  }

  // Notes requested addresses that the node does not get; `used`: those that it gets.
  void note_fixed_ips(const ir::Node& node, const std::set<std::string>& used) {
    for (const ir::Interface& interface : node.interfaces)
      if (!interface.fixed_ip.empty() && !used.contains(interface.fixed_ip))
        note(fmt::format("{}: address {} is not asked for: {} chooses one", node.address, interface.fixed_ip,
                         limit_.cloud));
  }

  // Adds each text once.
  void note(const std::string& text) {
    if (noted_.insert(text).second) design_.notes.push_back(text);
  }

  const CloudId& cloud_;
  const DesignInput& input_;
  Design design_;

 private:
  // Null: the disk has no size.
  Result<Json> further_disk(const ir::Node& node, const ir::Disk& disk, const Volumes& volumes, Json made,
                            std::vector<std::string>& references);
  void note_features(const std::string& of, const std::vector<std::string>& features) {
    if (!features.empty())
      note(fmt::format("{}: {} {} no effect in {}", of, join(features, ", "),
                       features.size() == 1 ? "has" : "have", limit_.cloud));
  }
  Result<Json> existing_disk(const ir::Node& node, const ir::Disk& disk, const Volumes& volumes);

  const double seconds_;
  const UserDataLimit limit_;
  const std::vector<std::string> unused_;
  const std::map<std::string, std::vector<std::string>> recipes_;  // for cloud_init, by node
  std::map<std::string, std::string> existing_;                    // existing disk -> node that uses it
  std::set<std::string> noted_;
};

}  // namespace radl
