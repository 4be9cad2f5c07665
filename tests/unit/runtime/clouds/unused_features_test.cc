// No cloud drops a feature without a word: with each feature that RADL has, the design of every cloud differs
// from the one without it, in a resource or a note, or the cloud refuses it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "common/text.h"
#include "compiler/check/features.h"
#include "compiler/compile.h"
#include "compiler/diag/render.h"
#include "compiler/source/source.h"
#include "runtime/clouds/azure/design.h"
#include "runtime/clouds/ec2/design.h"
#include "runtime/clouds/gce/design.h"
#include "runtime/clouds/hosts/design.h"
#include "runtime/clouds/local/design.h"
#include "runtime/clouds/openstack/design.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {
namespace {

// What plans a node in a cloud: its check, then its design.
template <class Place>
Result<Design> planned(const Place& place, Status (*check)(const Place&, const ir::Node&, const DesignInput&),
                       Result<Design> (*design)(const Place&, const DesignInput&), const DesignInput& input) {
  Status right = check(place, *input.nodes.at(0), input);
  return right.ok() ? design(place, input) : Result<Design>(right);
}

const std::map<std::string, std::function<Result<Design>(const DesignInput&)>>& designs() {
  static const CloudId kEc2{"ec2", "", "eu-west-1"}, kAzure{"azure", "", "westeurope"};
  static const openstack::Place kOpenstack{{"openstack", "", ""}, "", ""};
  static const gce::Place kGce{{"gce", "", "europe-west1"}, ""};
  static const std::map<std::string, std::function<Result<Design>(const DesignInput&)>> all = {
      {"ec2", [](auto& in) { return planned(kEc2, ec2::check_node, ec2::design_resources, in); }},
      {"openstack",
       [](auto& in) { return planned(kOpenstack, openstack::check_node, openstack::design_resources, in); }},
      {"gce", [](auto& in) { return planned(kGce, gce::check_node, gce::design_resources, in); }},
      {"azure", [](auto& in) { return planned(kAzure, azure::check_node, azure::design_resources, in); }},
      {"local",
       [](auto& in) {
         Status right = local::can_make_node(*in.nodes.at(0));
         return right.ok() ? local::design_nodes({"local", "", ""}, in) : Result<Design>(right);
       }},
      {"hosts", [](auto& in) {
         Status right = hosts::can_be_had(*in.nodes.at(0), in);
         return right.ok() ? hosts::design_hosts({"hosts", "", ""}, in) : Result<Design>(right);
       }}};
  return all;
}

// What a machine in a public network has anyway.
bool is_so_already(const std::string& cloud, const std::string& feature) {
  return (cloud == "ec2" && feature == "ec2.associate_public_ip_address") ||
         ((cloud == "azure" || cloud == "openstack") && feature == "elastic_ip");
}

// Of the service, of EC3 and of functions, or used by the planner, by steps and by Ansible: no design reads
// it.
bool is_of_others(const sema::FeatureSpec& row) {
  static const std::set<std::string_view> kOthers = {"outbound",
                                                     "outports",
                                                     "wireguard",
                                                     "wireguard_cidr",
                                                     "wireguard_port",
                                                     "instance_id",
                                                     "state",
                                                     "provider.type",
                                                     "provider.host",
                                                     "provider.port",
                                                     "provider.vo",
                                                     "auth",
                                                     "queue_system",
                                                     "prevent_destroy",
                                                     "ansible_host",
                                                     "spot.fallback",
                                                     "vault.password",
                                                     "stop.load",
                                                     "stop.action",
                                                     "disk.N.created",
                                                     "disk.N.device",
                                                     "disk.N.os.name",
                                                     "disk.N.image.vo",
                                                     "disk.N.provider_id",
                                                     "disk.N.applications",
                                                     "disk.N.os.credentials.password"};
  return kOthers.contains(row.name) || row.name.starts_with("ec3_") || row.name.ends_with(".*");
}

// A value that no system of the test has otherwise.
std::string value_for(const sema::FeatureSpec& row, const std::string& cloud) {
  static const std::map<std::string_view, std::string> kValues = {
      {"cidr", "'10.77.0.0/24'"},
      {"provider_id", "'vpc-1.subnet-1'"},
      {"cpu.performance", "10ECU"},
      {"instance_tags", "'a=b'"},
      {"stop.after", "'8h'"},
      {"stop.idle", "'30m'"},
      {"net_interface.N.ip", "'10.9.9.9'"},
      {"disk.N.os.credentials.new.password", "'Abcd_12345'"},
      {"disk.N.os.version", "'11'"},
      {"cpu.arch", "'arm64'"}};
  if (row.name == "availability_zone" && cloud == "gce") return "'europe-west1-c'";
  if (row.name == "availability_zone" && cloud == "azure") return "'westeurope-2'";
  if (row.name == "disk.N.image.url" && cloud == "hosts") return "'ssh://ann@10.0.0.6'";
  if (auto found = kValues.find(row.name); found != kValues.end()) return found->second;
  if (row.type == sema::FeatureType::Choice) return fmt::format("'{}'", row.values.front());
  if (row.unit == sema::UnitClass::Size) return "7G";
  if (row.type == sema::FeatureType::Number || row.type == sema::FeatureType::Integer) return "7";
  return row.type == sema::FeatureType::List ? "['x.example.org']" : "'xyzzy'";
}

class UnusedFeatures : public testing::TestWithParam<std::string> {
 protected:
  using Features = std::map<std::string, std::string>;

  // What a design says, as text; the refusal of a file or a cloud is one as well.
  std::string designed(const std::map<std::string, Features>& networks, const Features& system) {
    std::string text;
    for (const auto& [name, features] : networks)
      text += fmt::format("network {} ( {} )\n", name, joined(features));
    text += fmt::format("system w ( {} )\ndeploy w 1\n", joined(system));
    const std::string path = folder_.path() + "/f.radl";
    std::ofstream(path) << text;
    SourceMap sources;
    Diagnostics diagnostics;
    CompileOptions options;
    options.lenient = true;
    auto compiled = compile({path}, options, sources, diagnostics);
    if (!compiled) return "refused: " + render_text(diagnostics, sources);
    static const Catalog catalog = built_in_catalog();
    static const Survey survey;
    const DesignInput input{compiled->program, {&compiled->program.nodes.at(0)}, survey, catalog};
    auto design = designs().at(GetParam())(input);
    if (!design.ok()) return "refused: " + design.status().text();
    std::string all = join(design->notes, "\n");
    for (const Wanted& one : design->resources) {
      all += fmt::format("\n{} {} {}", one.address, one.type, one.spec.dump());
      for (const Offer& offer : one.offers) all += fmt::format(" {} {}", offer.name, offer.spec.dump());
    }
    return all;
  }

  Features system() const {
    Features all = {{"net_interface.0.connection", "'pub'"},
                    {"net_interface.1.connection", "'lan'"},
                    {"net_interface.2.connection", "'own'"},
                    {"disk.1.size", "5G"},
                    {"disk.1.device", "'hdb'"},
                    {"disk.1.fstype", "'ext4'"},
                    {"disk.1.mount_path", "'/m'"},
                    {"disk.0.os.name", "'linux'"}};
    if (GetParam() == "hosts") all["disk.0.image.url"] = "'ssh://ann@10.0.0.5'";
    return all;
  }
  const std::map<std::string, Features> networks_ = {
      {"pub", {{"outbound", "'yes'"}}}, {"lan", {}}, {"own", {{"create", "'yes'"}}}};

 private:
  static std::string joined(const Features& features) {
    std::string all;
    for (const auto& [name, value] : features)
      all += fmt::format("{}{} = {}", all.empty() ? "" : " and ", name, value);
    return all;
  }
  TemporaryFolder folder_;
};

TEST_P(UnusedFeatures, EachIsUsedNamedOrRefused) {
  const std::string without = designed(networks_, system());
  ASSERT_FALSE(without.starts_with("refused")) << without;
  const std::string kNumbers[] = {".0.", ".1."};
  std::string silent;
  for (const sema::FeatureSpec& row : sema::all_features()) {
    if (row.scope != sema::Scope::System || is_of_others(row)) continue;
    for (const std::string& number : kNumbers) {
      std::string name(row.name);
      const size_t index = name.find(".N.");
      if (index != name.npos)
        name.replace(index, 3, number);
      else if (number != kNumbers[0])
        continue;
      if (const size_t at = name.find(".I."); at != name.npos) name.replace(at, 3, ".0.");
      // On local, a folder replaces the disk, whatever its size; disk 0 is this computer's own.
      if (GetParam() == "local" && name.starts_with("disk.")) continue;
      if (name == "disk.1.size" || name == "disk.1.fstype" || name == "disk.1.mount_path") continue;
      if (name.ends_with(".connection") || (GetParam() == "hosts" && name == "net_interface.1.dns_name"))
        continue;
      if (is_so_already(GetParam(), name)) continue;
      Features features = system();
      features[name] = value_for(row, GetParam());
      if (designed(networks_, features) == without) silent += "\n" + name + " = " + features[name];
    }
  }
  for (const sema::FeatureSpec& row : sema::all_features()) {
    if (row.scope != sema::Scope::Network || is_of_others(row)) continue;
    for (const char* network : {"pub", "lan", "own"}) {
      auto networks = networks_;
      std::string& value = networks[network][std::string(row.name)];
      if (value.empty())
        value = value_for(row, GetParam());
      else
        continue;
      if (designed(networks, system()) == without)
        silent += fmt::format("\nnetwork {}: {} = {}", network, row.name, value);
    }
  }
  EXPECT_EQ(silent, "");
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, design] : designs()) all.push_back(name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Clouds, UnusedFeatures, testing::ValuesIn(names()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace radl::test
