// What every cloud's design is put together with.
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
  // The largest user data that a cloud takes, in bytes, and the cloud's name.
  struct UserDataLimit {
    size_t bytes;
    const char* cloud;
  };
  // `seconds`: how long one request for a resource takes. `unused`: features of a system that other clouds
  // use and this one does not.
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

  // What the spec of every machine begins with: its groups, its host names, the tags of the file and the
  // recipes for cloud_init.
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

  // spec["cloud_init"], where the node has such recipes.
  Status add_recipes(const ir::Node& node, Json& spec) const {
    const auto recipes = recipes_.find(node.address);
    if (recipes == recipes_.end()) return {};
    spec["cloud_init"] = recipes->second;
    Json whole = spec;
    if (auto stop = auto_stop_wanted(node); stop.ok() && *stop) whole["stop"] = to_json(**stop);
    return check_user_data(node, whole, limit_.bytes, limit_.cloud);
  }

  // `seconds`: how long it takes to boot.
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

  // What a further disk is called: "disk", "volume"; and of which cloud it is.
  struct Volumes {
    const char *type, *noun, *cloud;
    std::string zone;                     // that it must be in; "": any
    std::vector<std::string> references;  // of each
    std::string type_unsaid = {};  // of one whose type the file does not say; "": the cloud's own choice
    // What a URL of `disk.N.image.url` calls a disk that is there already; "": it is none of this cloud's.
    // Without it, further disks are empty ones.
    std::function<Result<std::string>(const std::string& url)> existing = {};
    std::string own_type = {};  // the `disk.N.type` of disks of the machine's own; "": the cloud has none
    // What encrypts the cloud's disks where the file names no key, for a note; "": the cloud cannot be asked.
    std::string encrypted_by = {};
  };
  // The disks of a node: the first is spec["root"], the further ones spec["volumes"] by the device's letter:
  // the address of a resource, {"existing": NAME} for one that is there already, which is attached and stays,
  // or {"own_gib": SIZE} for one that goes with the machine.
  Status add_volumes(const ir::Node& node, const Volumes& volumes, Json& spec,
                     std::vector<std::string>& references);

  // made["encryption_key"], where the file asks for it and the cloud takes one; says so where it does not.
  void add_encryption(const ir::Node& node, const ir::Disk& disk, const Volumes& volumes, Json& made);

  // Says that this node gets a disk that is there already. Invalid: another node does.
  Status claim(const ir::Node& node, const std::string& feature, const std::string& noun,
               const std::string& name);

  // Says which of these features a network has that the cloud does nothing about.
  void note_without_effect(const ir::Network& network, const std::vector<std::string>& features) {
    note_features("network " + network.name, features_without_effect(network, features));
  }

  // Says that a node has no public address for its elastic_ip.
  void note_no_address(const ir::Node& node) {
    if (says_yes(node, "elastic_ip"))
      note(fmt::format("system '{}': elastic_ip has no effect: none of its networks is public", node.system));
  }

  // Says which addresses the node asks for and does not get; `used`: those that it gets.
  void note_fixed_ips(const ir::Node& node, const std::set<std::string>& used) {
    for (const ir::Interface& interface : node.interfaces)
      if (!interface.fixed_ip.empty() && !used.contains(interface.fixed_ip))
        note(fmt::format("{}: address {} is not asked for: {} chooses one", node.address, interface.fixed_ip,
                         limit_.cloud));
  }

  // Each text once.
  void note(const std::string& text) {
    if (noted_.insert(text).second) design_.notes.push_back(text);
  }

  const CloudId& cloud_;
  const DesignInput& input_;
  Design design_;

 private:
  // Null: it has no size.
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
  std::map<std::string, std::string> existing_;  // disks that are there: the node that gets it
  std::set<std::string> noted_;
};

}  // namespace radl
