// What of Compute Engine needs no Compute Engine: names, images, zones, firewalls and machines in a design.
#include <gtest/gtest.h>

#include "runtime/clouds/gce/design.h"
#include "runtime/clouds/gce/disk_types.h"
#include "runtime/clouds/gce/images.h"
#include "runtime/clouds/gce/instance.h"
#include "runtime/clouds/gce/marks.h"
#include "runtime/clouds/gce/survey.h"
#include "runtime/clouds/gce/zones.h"
#include "tests/support/runtime_programs.h"

namespace radl::gce {
namespace {

const Place kPlace{{"gce", "", "europe-west1"}, ""};

ir::Node node_with(std::map<std::string, std::string> features, const std::string& image = {}) {
  ir::Node node;
  node.address = "worker[0]";
  node.system = "worker";
  for (const auto& [name, value] : features) node.requirements[name].equals = value;
  if (!image.empty()) {
    ir::Disk disk;
    disk.image_urls = {image};
    node.disks.push_back(disk);
  }
  return node;
}

Result<Design> designed(const ir::Program& program, const Survey& survey = {}) {
  static const Catalog catalog = built_in_catalog();
  DesignInput input{program, {}, survey, catalog};
  for (const ir::Node& node : program.nodes) input.nodes.push_back(&node);
  return design_resources(kPlace, input);
}

const Wanted* find(const Design& design, const std::string& address) {
  for (const Wanted& wanted : design.resources)
    if (wanted.address == address) return &wanted;
  return nullptr;
}

ir::Program with_encryption(const std::string& encrypted, const std::string& key) {
  ir::Node node = node_with({});
  for (int index : {0, 1}) {
    ir::Disk disk;
    disk.index = index;
    if (index > 0) disk.size_bytes = 5e9;
    node.disks.push_back(disk);
    const std::string prefix = "disk." + std::to_string(index) + ".";
    if (!encrypted.empty()) node.requirements[prefix + "encrypted"].equals = encrypted;
    if (!key.empty()) node.requirements[prefix + "encryption_key"].equals = key;
  }
  ir::Program program;
  program.nodes.push_back(std::move(node));
  return program;
}

bool notes_say(const Design& design, const std::string& words) {
  return std::any_of(design.notes.begin(), design.notes.end(),
                     [&](const std::string& note) { return note.find(words) != note.npos; });
}

TEST(GceDisks, AreEncryptedAsTheFileAsks) {
  auto design = designed(with_encryption("yes", ""));
  ASSERT_TRUE(design.ok()) << design.status().text();
  EXPECT_FALSE(find(*design, "worker[0]")->spec.contains("root")) << "it encrypts every disk";
  EXPECT_TRUE(notes_say(*design, "disk.0.encrypted: "));
  design = designed(with_encryption("yes", "key-of-mine"));
  ASSERT_TRUE(design.ok()) << design.status().text();
  EXPECT_EQ(find(*design, "worker[0]")->spec.at("root").at("encryption_key"), "key-of-mine");
  EXPECT_EQ(find(*design, "volume.worker[0].1")->spec.at("encryption_key"), "key-of-mine");
}

TEST(GceImages, AreWrittenAsTheInfrastructureManagerWritesThem) {
  const std::pair<const char*, const char*> kCases[] = {
      {"gce://europe-west1/projects/debian-cloud/global/images/family/debian-12",
       "projects/debian-cloud/global/images/family/debian-12"},
      {"gce://us-central1-a/debian-12", "debian-12"},
      {"gce://europe-west1/global/images/mine", "global/images/mine"}};
  for (const auto& [url, image] : kCases) {
    auto wanted = image_wanted(node_with({}, url));
    ASSERT_TRUE(wanted.ok()) << wanted.status().text();
    EXPECT_EQ(*wanted, image);
  }
  for (const char* url :
       {"gce://europe-west1", "gce://europe-west1/", "gce://r/family/x", "aws://eu-west-1/ami-1"})
    EXPECT_EQ(image_wanted(node_with({}, url)).status().code(), Code::Invalid) << url;
  EXPECT_EQ(*image_wanted(node_with({{"disk.0.os.flavour", "ubuntu"}, {"disk.0.os.version", "22.04"}})),
            "projects/ubuntu-os-cloud/global/images/family/ubuntu-2204-lts");
  EXPECT_EQ(*image_wanted(node_with({})), "projects/debian-cloud/global/images/family/debian-12");
}

TEST(GceZones, AreNamedByTheFileOrKnownOfTheRegion) {
  EXPECT_EQ(region_named(node_with({{"availability_zone", "europe-west4-b"}})), "europe-west4");
  const std::vector<std::string> none, first = {"europe-west4-b"},
                                       both = {"europe-west4-b", "europe-west4-c"};
  EXPECT_EQ(zones_named(node_with({{"availability_zone", "europe-west4-b"}})), first);
  EXPECT_EQ(zones_named(node_with({{"availability_zone", "europe-west4-b,europe-west4/europe-west4-c"}})),
            both);
  EXPECT_EQ(region_named(node_with({{"availability_zone", "europe-west4"}})), "europe-west4");
  EXPECT_EQ(zones_named(node_with({{"availability_zone", "europe-west4"}})), none);
  EXPECT_EQ(region_named(node_with({}, "gce://us-east1-b/debian-12")), "us-east1");
  ir::Node with_disk = node_with({});
  ir::Disk disk;
  disk.index = 1;
  disk.image_urls = {"gce://europe-west3-a/data"};
  with_disk.disks.push_back(disk);
  EXPECT_EQ(region_named(with_disk), "europe-west3") << "a machine is where its disks are";
  EXPECT_EQ(disk_in_url("gce://europe-west3/projects/p/zones/europe-west3-c/disks/data"),
            "europe-west3-c/data");
  EXPECT_EQ(disk_in_url("gce://europe-west3/data"), "data");
  EXPECT_EQ(disk_path("data", "europe-west3-b"), "zones/europe-west3-b/disks/data");
  EXPECT_EQ(disk_in_url("aws://eu-west-1/snap-1"), "");
  EXPECT_EQ(zones_of("europe-west1", {}),
            (std::vector<std::string>{"europe-west1-b", "europe-west1-c", "europe-west1-d"}));
}

// Why a node cannot be in a place; "" where it can.
std::string refused(const ir::Node& node, const CloudId& cloud, const Survey& survey = {}) {
  static const Catalog catalog = built_in_catalog();
  const ir::Program program;
  return check_node({cloud, ""}, node, {program, {}, survey, catalog}).text();
}

TEST(GceZones, ARegionOrZoneThatThereIsNotIsSaidWithTheOneThatIsMeant) {
  const CloudId wrong{"gce", "", "europe-wst1"}, here{"gce", "", "europe-west1"};
  std::string said = refused(node_with({{"instance_type", "n2-standard-4"}}), wrong);
  EXPECT_NE(said.find("region 'europe-wst1' not found"), std::string::npos) << said;
  EXPECT_NE(said.find("did you mean europe-west1?"), std::string::npos) << said;
  said = refused(node_with({{"availability_zone", "europe-west1-a"}}), here);
  EXPECT_NE(said.find("availability_zone = 'europe-west1-a' is not a zone of Compute Engine"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("europe-west1 has europe-west1-b, europe-west1-c, europe-west1-d"), std::string::npos);
  EXPECT_EQ(refused(node_with({{"availability_zone", "europe-west1-b"}}), here), "");
  Survey survey;  // Google's word counts more than what was known when the catalogue was made
  survey.facts = {{"zones", {"europe-wst1-q"}}};
  EXPECT_EQ(refused(node_with({{"instance_type", "n9-standard-4"}, {"availability_zone", "europe-wst1-q"}}),
                    wrong, survey),
            "");
}

TEST(GceDisks, AMachineTakesSomeTypesAndAnotherIsAnErrorBeforeAnybodyPays) {
  const CloudId here{"gce", "", "europe-west1"};
  auto with = [](const char* machine, const char* disk, int index) {
    ir::Node node = node_with({});
    if (*machine) node.requirements["instance_type"].equals = machine;
    ir::Disk one;
    one.index = index;
    one.type = disk;
    one.size_bytes = 40e9;
    node.disks.push_back(one);
    return node;
  };
  for (const auto& [machine, disk] : {std::pair{"c3-standard-4", "pd-standard"},
                                      {"c4-standard-4", "pd-balanced"},
                                      {"n4-standard-4", "pd-ssd"},
                                      {"e2-standard-4", "hyperdisk-balanced"},
                                      {"n1-standard-4+1xnvidia-tesla-t4", "hyperdisk-balanced"}}) {
    const std::string said = refused(with(machine, disk, 0), here);
    EXPECT_NE(said.find(std::string("disk.0.type = '") + disk + "': a machine of type " + machine), said.npos)
        << said;
    EXPECT_NE(said.find("it takes "), said.npos) << said;
  }
  EXPECT_NE(refused(with("c3-standard-4", "pd-standard", 1), here)
                .find("it takes pd-balanced, pd-ssd, pd-extreme, "),
            std::string::npos);
  for (const auto& [machine, disk] : {std::pair{"c3-standard-4", "pd-balanced"},
                                      {"c4-standard-4", "hyperdisk-balanced"},
                                      {"n2-standard-4", "pd-standard"},
                                      {"n9-standard-4", "hyperdisk-balanced"}})
    EXPECT_EQ(refused(with(machine, disk, 1), {"gce", "", "mars-central1"}), "") << machine;
  EXPECT_NE(refused(with("", "pd-standrad", 1), here).find("did you mean pd-standard?"), std::string::npos);
  EXPECT_NE(refused(with("n2-standard-4", "hyperdisk-extreme", 0), here).find("cannot start from"),
            std::string::npos);
  // Where the file names no type, one is taken that takes the disk.
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  ir::Disk data;
  data.index = 1, data.size_bytes = 10e9, data.type = "hyperdisk-balanced";
  program.nodes[0].disks = {data};
  auto design = designed(program);
  ASSERT_TRUE(design.ok()) << design.status().text();
  for (const Offer& offer : find(*design, "worker[0]")->offers)
    EXPECT_TRUE(disk_rules().takes(offer.name, "hyperdisk-balanced")) << offer.name;
}

TEST(GceDisks, OneOfNoTypeIsOfOneThatTheMachineTakes) {
  EXPECT_EQ(usual_disk("n2-standard-4"), "");
  EXPECT_EQ(usual_disk("n1-standard-4+1xnvidia-tesla-t4"), "");
  EXPECT_EQ(usual_disk("c3-standard-4"), "pd-balanced");
  EXPECT_EQ(usual_disk("a3-highgpu-8g"), "pd-balanced");
  EXPECT_EQ(usual_disk("c4-standard-4"), kHyperdisk);
  EXPECT_EQ(usual_disk("c4n-standard-4"), kHyperdisk) << "of a family that the table does not have";
}

TEST(GceMarks, NamesAreOfTheTokenAndOfOneInfrastructureInOneRegion) {
  Context context{.environment = environment_of_process()};
  context.infrastructure = "Demo/1";
  Order order;
  order.address = "network.a-network-with-a-very-long-name-that-goes-on@gce:x/europe-west1";
  order.token = "0123456789abcdef0123456789abcdef";
  const CloudId here{"gce", "", "europe-west1"}, there{"gce", "", "us-east1"};
  const std::string name = name_for(context, here, order);
  EXPECT_EQ(name, name_for(context, here, order));
  EXPECT_LE(name.size(), 63u);
  EXPECT_TRUE(name.starts_with(name_prefix(context, here)));
  EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos) << name;
  EXPECT_NE(name_prefix(context, here), name_prefix(context, there));
  order.token.back() = '0';
  EXPECT_NE(name, name_for(context, here, order));
  const Mark mark = from_line(to_line(context, order));
  EXPECT_EQ(mark.address, order.address);
  EXPECT_EQ(mark.token, order.token);
  EXPECT_TRUE(mark.ours(context));
  EXPECT_FALSE(from_line("somebody's own words").ours(context));
}

TEST(GceDesign, PortsAreClosedButForThisComputerAndWhatTheFileOpens) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  program.networks[0].is_public = true;
  for (auto [cidr, port] : {std::pair{"0.0.0.0/0", 80}, {"0.0.0.0/0", 443}, {"10.0.0.0/8", 9000}}) {
    ir::PortRule rule;
    rule.protocol = "tcp";
    rule.cidr = cidr;
    rule.remote = rule.remote_end = rule.local = rule.local_end = port;
    program.networks[0].ports.push_back(rule);
  }
  auto design = designed(program);
  ASSERT_TRUE(design.ok()) << design.status().text();
  std::map<std::string, Json> rules;
  for (const Wanted& wanted : design->resources)
    if (wanted.type == "firewall") rules[wanted.address] = wanted.spec["rules"];
  EXPECT_EQ(rules,
            (std::map<std::string, Json>{{"access.gce:/europe-west1", {"tcp 22 from this computer"}},
                                         {"network.lan", {"all from this group"}},
                                         {"ports.lan.0", {"tcp 443 from 0.0.0.0/0", "tcp 80 from 0.0.0.0/0"}},
                                         {"ports.lan.1", {"tcp 9000 from 10.0.0.0/8"}}}));
  const Wanted* machine = find(*design, "worker[0]");
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->references.size(), 4u);
  EXPECT_EQ(machine->spec["public"], true);
  EXPECT_EQ(machine->offers.front().name, "e2-highcpu-2");
  EXPECT_EQ(machine->offers.front().zone, "europe-west1-b");
  EXPECT_EQ(machine->offers[1].zone, "europe-west1-c") << "another zone before another type";
}

TEST(GceDesign, ANetworkOfItsOwnHasASubnetAndAWayOut) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  program.networks[0].features["create"] = "Yes";
  auto design = designed(program);
  ASSERT_TRUE(design.ok()) << design.status().text();
  for (const char* address : {"net.lan", "subnet.lan", "router.lan"})
    EXPECT_TRUE(find(*design, address)) << address;
  EXPECT_EQ(find(*design, "network.lan")->spec["network"], (Json{{"made", "net.lan"}}));
  EXPECT_EQ(find(*design, "worker[0]")->spec["networks"],
            (Json::array({{{"made", "net.lan"}, {"subnet", "subnet.lan"}}})));
}

TEST(GceDesign, GraphicsProcessorsAreChosenFromTheCatalogue) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  program.nodes[0].requirements["gpu.count"].min = 1;
  program.nodes[0].requirements["gpu.model"].equals = "NVIDIA T4";
  program.nodes[0].requirements["spot"].equals = "yes";
  auto design = designed(program);
  ASSERT_TRUE(design.ok()) << design.status().text();
  const Offer& offer = find(*design, "worker[0]")->offers.front();
  EXPECT_EQ(offer.spec["type"], "n1-standard-4+1xnvidia-tesla-t4");
  EXPECT_EQ(offer.spec["market"], "spot");
  const MachineType type = parse_type(offer.name);
  EXPECT_EQ(type.name, "n1-standard-4");
  EXPECT_EQ(type.accelerator, "nvidia-tesla-t4");
  EXPECT_EQ(type.count, 1);
  EXPECT_EQ(type.text(), offer.name);
}

TEST(GceDesign, AMachineOfAnotherProcessorStartsFromItsOwnImage) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  program.nodes[0].requirements["cpu.arch"].equals = "aarch64";
  for (const auto& [flavour, version, family] : {std::tuple{"", "", "debian-12-arm64"},
                                                 {"ubuntu", "24.04", "ubuntu-2404-lts-arm64"},
                                                 {"ubuntu", "22.04", "ubuntu-2204-lts-arm64"},
                                                 {"rocky", "9", "rocky-linux-9-arm64"}}) {
    if (*flavour) program.nodes[0].requirements["disk.0.os.flavour"].equals = flavour;
    if (*version) program.nodes[0].requirements["disk.0.os.version"].equals = version;
    auto design = designed(program);
    ASSERT_TRUE(design.ok()) << design.status().text();
    const Wanted& machine = *find(*design, "worker[0]");
    for (const Offer& offer : machine.offers) {
      EXPECT_TRUE(is_arm(offer.name)) << offer.name;
      const std::string image = offered_spec(machine.spec, offer)["image"];
      EXPECT_TRUE(image.ends_with(std::string("/family/") + family)) << image;
    }
  }
  program.nodes[0].requirements.erase("cpu.arch");
  auto plain = designed(program);
  ASSERT_TRUE(plain.ok()) << plain.status().text();
  for (const Offer& offer : find(*plain, "worker[0]")->offers) EXPECT_FALSE(is_arm(offer.name)) << offer.name;
  EXPECT_FALSE(is_arm("a2-highgpu-1g") || is_arm("t2d-standard-4") || is_arm("c4-standard-4"));
}

TEST(GceDesign, MachinesOfTheFourthGenerationHaveHyperdisks) {
  for (const char* type : {"c4-standard-4", "c4a-standard-4", "n4-highmem-2", "a4x-highgpu-4g"})
    EXPECT_TRUE(needs_hyperdisk(type)) << type;
  for (const char* type : {"e2-standard-4", "n2d-standard-4", "c3-standard-4", "t2a-standard-1", "f1-micro"})
    EXPECT_FALSE(needs_hyperdisk(type)) << type;
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  ir::Disk root, data, fast;
  data.index = 1, fast.index = 2;
  data.size_bytes = fast.size_bytes = 10e9;
  fast.type = "hyperdisk-extreme";
  program.nodes[0].disks = {root, data, fast};
  for (const auto& [type, kind] :
       {std::pair{"c4a-standard-4", Json(kHyperdisk)}, {"n2-standard-4", Json()}}) {
    program.nodes[0].requirements["instance_type"].equals = type;
    auto design = designed(program);
    ASSERT_TRUE(design.ok()) << design.status().text();
    std::map<std::string, Json> kinds;
    for (const Wanted& wanted : design->resources)
      if (wanted.type == "disk")
        kinds[wanted.summary.substr(0, 4) + wanted.address] = wanted.spec.value("type", Json());
    ASSERT_EQ(kinds.size(), 2u);
    EXPECT_EQ(kinds.begin()->second, kind) << type;
    EXPECT_EQ(kinds.rbegin()->second, "hyperdisk-extreme");
  }
}

InstanceType machine(const char* name, double cpu, double gpu = 0, const char* model = "") {
  InstanceType type;
  type.name = name;
  type.cpu = cpu;
  type.gpu = gpu;
  if (gpu > 0) type.gpu_vendor = "NVIDIA";
  type.gpu_model = model;
  return type;
}

// The quota's name, and its amount in a machine.
std::map<std::string, double> taken(const InstanceType& type, Market market, const Json& quotas) {
  Survey survey;
  survey.facts["quotas"] = quotas;
  std::map<std::string, double> amounts;
  for (const QuotaTaken& one : quotas_taken(survey)(type, market)) amounts[one.quota] = one.amount;
  return amounts;
}

TEST(GceQuotas, AreNamedByFamilyAndModel) {
  using Amounts = std::map<std::string, double>;
  EXPECT_EQ(taken(machine("e2-standard-4", 4), Market::OnDemand, {}),
            (Amounts{{"INSTANCES", 1}, {"CPUS_ALL_REGIONS", 4}, {"CPUS", 4}}));
  EXPECT_EQ(taken(machine("n2d-standard-8", 8), Market::OnDemand, {}),
            (Amounts{{"INSTANCES", 1}, {"CPUS_ALL_REGIONS", 8}, {"N2D_CPUS", 8}}));
  const InstanceType graphics = machine("n1-standard-8+2xnvidia-tesla-t4", 8, 2, "T4");
  EXPECT_EQ(taken(graphics, Market::OnDemand, {}), (Amounts{{"INSTANCES", 1},
                                                            {"CPUS_ALL_REGIONS", 8},
                                                            {"CPUS", 8},
                                                            {"NVIDIA_T4_GPUS", 2},
                                                            {"GPUS_ALL_REGIONS", 2}}));
  const Json given = {{"PREEMPTIBLE_CPUS", {{"limit", 24}}}, {"PREEMPTIBLE_NVIDIA_T4_GPUS", {{"limit", 0}}}};
  EXPECT_EQ(taken(graphics, Market::Spot, given), (Amounts{{"INSTANCES", 1},
                                                           {"CPUS_ALL_REGIONS", 8},
                                                           {"PREEMPTIBLE_CPUS", 8},
                                                           {"NVIDIA_T4_GPUS", 2},
                                                           {"GPUS_ALL_REGIONS", 2}}))
      << "a quota of spot machines that was never given is not the one that they take from";
}

TEST(GceQuotas, OwnUsageCountsOnceAndUnknownUsageIsNotInvented) {
  static const Catalog catalog = built_in_catalog();
  Survey survey;
  survey.facts = {
      {"quotas", {{"INSTANCES", {{"limit", 10}, {"used", 6}}}, {"CPUS", {{"limit", 24}, {"used", 20}}}}},
      {"own", {{"n1-standard-4", 2}, {"custom-6-8192", 1}}}};
  const CloudId cloud{"gce", "", "us-central1"};
  const auto uses = machine_quota_uses(cloud, machine("n1-standard-8", 8), Market::OnDemand, survey, catalog,
                                       quotas_taken(survey));
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].name, "INSTANCES");
  EXPECT_EQ(uses[0].room, 7) << "three of the six are ours";
  EXPECT_EQ(uses[1].name, "CPUS");
  EXPECT_EQ(uses[1].each, 8);
  EXPECT_EQ(uses[1].room, 12) << "eight are ours; of the custom machine the catalogue knows nothing";
  const Survey none;
  EXPECT_TRUE(machine_quota_uses(cloud, machine("n1-standard-8", 8), Market::OnDemand, none, catalog,
                                 quotas_taken(none))
                  .empty());
}

TEST(GceQuotas, GraphicsProcessorsThatAProjectWasNotGivenAreTold) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  program.nodes[0].requirements["gpu.count"].min = 1;
  program.nodes[0].requirements["gpu.model"].equals = "NVIDIA T4";
  Survey survey;
  survey.facts = {{"quotas", {{"GPUS_ALL_REGIONS", {{"limit", 0}, {"used", 0}}}}}, {"own", Json::object()}};
  const Status refused = designed(program, survey).status();
  EXPECT_EQ(refused.code(), Code::Quota);
  Survey of_model;  // by the name that Google gives it, of the model that the catalogue has
  of_model.facts = {{"quotas", {{"NVIDIA_T4_GPUS", {{"limit", 0}, {"used", 0}}}}}, {"own", Json::object()}};
  EXPECT_NE(designed(program, of_model).status().text().find("the quota NVIDIA_T4_GPUS is 0"),
            std::string::npos);
  EXPECT_NE(refused.text().find("the quota GPUS_ALL_REGIONS is 0; 0 are in use, and this plan needs 1"),
            std::string::npos)
      << refused.text();
}

TEST(GceDesign, APlacementPolicyForASystemIsCompactOrSpread) {
  ir::Program program = test::ProgramBuilder().deploy({"worker", 2}).build();
  for (const char* policy : {"cluster", "spread"}) {
    for (ir::Node& node : program.nodes) node.requirements["placement_group"].equals = policy;
    auto design = designed(program);
    ASSERT_TRUE(design.ok()) << design.status().text();
    const Wanted* placement = find(*design, "placement.worker");
    ASSERT_NE(placement, nullptr);
    EXPECT_EQ(placement->spec, Json({{"policy", policy}}));
  }
  static const Catalog catalog = built_in_catalog();
  program.nodes[0].requirements["placement_group"].equals = "partition";
  const Status refused = check_node(kPlace, program.nodes[0], {program, {}, Survey(), catalog});
  EXPECT_NE(refused.text().find("must be cluster or spread"), std::string::npos) << refused.text();
}

TEST(GceDesign, WhatCannotBeALabelIsRefusedByItsName) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  program.nodes[0].requirements["instance_tags"].equals = "Project=X";
  static const Catalog catalog = built_in_catalog();
  const Survey survey;
  DesignInput input{program, {&program.nodes[0]}, survey, catalog};
  const Status refused = check_node(kPlace, program.nodes[0], input);
  EXPECT_EQ(refused.code(), Code::Invalid);
  EXPECT_NE(refused.text().find("instance_tags"), std::string::npos);
  program.nodes[0].requirements["instance_tags"].equals = "goog-batch=x";
  EXPECT_NE(check_node(kPlace, program.nodes[0], input).text().find("reserved in Compute Engine"),
            std::string::npos);
}

TEST(GceDesign, NetworksAndAddressesThatCannotBeAreRefused) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  program.networks[0].is_public = false;
  static const Catalog catalog = built_in_catalog();
  auto refused = [&] {
    return check_node(kPlace, program.nodes[0], {program, {}, Survey(), catalog}).text();
  };
  for (const char* id : {"nosuch net!", "Upper", "a_b", "projects/p/networks/n",
                         "projects/p/global/networks/n/x", "https://example.org/networks/n", "x-"}) {
    program.networks[0].features["provider_id"] = id;
    EXPECT_NE(refused().find("provider_id"), std::string::npos) << id;
  }
  for (const char* id : {"lan", "projects/host-1/global/networks/lan", "global/networks/lan",
                         "https://www.googleapis.com/compute/v1/projects/p/global/networks/lan"}) {
    program.networks[0].features["provider_id"] = id;
    EXPECT_EQ(refused(), "") << id;
  }
  auto design = designed(program);
  ASSERT_TRUE(design.ok());
  EXPECT_EQ(find(*design, "worker[0]")->spec["networks"][0]["provider"], "projects/p/global/networks/lan");
  program.networks[0].features = ir::Json{{"create", "yes"}, {"cidr", "10.1.2.0/28"}};
  for (const auto& [address, word] :
       {std::pair("10.1.2.1", "reserves the first 2"), std::pair("10.1.2.14", "the last 2"),
        std::pair("10.9.0.1", "not an address of network"), std::pair("10.1.2.2", ""),
        std::pair("10.1.2.13", "")}) {
    program.nodes[0].interfaces.front().fixed_ip = address;
    EXPECT_EQ(refused().empty(), *word == '\0') << address;
    EXPECT_NE(refused().find(word), std::string::npos) << refused();
  }
}

TEST(GceDesign, ALoginThatLinuxDoesNotMakeIsRefusedAndRootIsWarnedOf) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  ir::Node& node = program.nodes[0];
  auto refused_as = [&](const std::string& user) {
    node.user = user;
    return refused(node, kPlace.cloud);
  };
  for (const char* user : {"Bob Smith", "-x", "9lives", "a:b", "abcdefghijklmnopqrstuvwxyz0123456"})
    EXPECT_NE(refused_as(user).find("Linux does not allow this login name"), std::string::npos) << user;
  for (const char* user : {"", "bob", "Bob.Smith", "_apt", "a-b_c"}) EXPECT_EQ(refused_as(user), "") << user;
  auto warned = [&](const std::string& image) {
    ir::Disk root;
    if (!image.empty()) root.image_urls = {image};
    node.disks = {root};
    const auto design = designed(program);
    EXPECT_TRUE(design.ok()) << design.status().text();
    if (!design.ok()) return false;
    return std::any_of(design->notes.begin(), design->notes.end(), [](const std::string& note) {
      return note.find("do not allow a login as root") != note.npos;
    });
  };
  node.user = "root";
  EXPECT_TRUE(warned(""));
  EXPECT_TRUE(warned("gce://europe-west1/ubuntu-2204-lts"));
  EXPECT_TRUE(warned("gce://europe-west1/projects/debian-cloud/global/images/family/debian-12"));
  // An image of one's own may be made for it.
  EXPECT_FALSE(warned("gce://europe-west1/projects/mine/global/images/x"));
}

}  // namespace
}  // namespace radl::gce
