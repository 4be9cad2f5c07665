// What of Azure needs no Azure: images, zones, ranges, ids, and machines with their networks in a design.
#include <gtest/gtest.h>

#include "runtime/clouds/azure/design.h"
#include "runtime/clouds/azure/images.h"
#include "runtime/clouds/azure/machine.h"
#include "runtime/clouds/azure/places.h"
#include "runtime/clouds/azure/ranges.h"
#include "runtime/clouds/azure/sizes.h"
#include "runtime/clouds/azure/survey.h"
#include "tests/support/runtime_programs.h"

namespace radl::azure {
namespace {

const CloudId kHere{"azure", "", "eastus"};

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
  return design_resources(kHere, input);
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

TEST(AzureDisks, AreEncryptedAsTheFileAsks) {
  auto design = designed(with_encryption("yes", ""));
  ASSERT_TRUE(design.ok()) << design.status().text();
  EXPECT_FALSE(find(*design, "worker[0]")->spec.contains("root")) << "it encrypts every disk";
  EXPECT_TRUE(notes_say(*design, "disk.0.encrypted: "));
  design = designed(with_encryption("yes", "key-of-mine"));
  ASSERT_TRUE(design.ok()) << design.status().text();
  EXPECT_EQ(find(*design, "worker[0]")->spec.at("root").at("encryption_key"), "key-of-mine");
  EXPECT_EQ(find(*design, "volume.worker[0].1")->spec.at("encryption_key"), "key-of-mine");
}

TEST(AzureImages, AreWrittenAsTheInfrastructureManagerWritesThem) {
  const std::pair<const char*, const char*> kCases[] = {
      {"azr://Canonical/0001-com-ubuntu-server-jammy/22_04-lts/latest",
       "Canonical/0001-com-ubuntu-server-jammy/22_04-lts/latest"},
      {"azr://Debian/debian-12/12", "Debian/debian-12/12/latest"},
      {"azr://images/Mine/Base", "id:resourceGroups/mine/providers/Microsoft.Compute/images/base"},
      {"azr://snapshots/mine/disk1",
       "snapshot:resourceGroups/mine/providers/Microsoft.Compute/snapshots/disk1"},
      {"azr:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/galleries/a/images/b/versions/"
       "1.0.0",
       "id:resourceGroups/g/providers/Microsoft.Compute/galleries/a/images/b/versions/1.0.0"}};
  for (const auto& [url, image] : kCases) {
    auto wanted = image_wanted(node_with({}, url));
    ASSERT_TRUE(wanted.ok()) << wanted.status().text();
    EXPECT_EQ(*wanted, image);
  }
  for (const char* url : {"azr://Debian", "azr://a//b/c", "azr://disk/group/name", "aws://eu-west-1/ami-1"})
    EXPECT_EQ(image_wanted(node_with({}, url)).status().code(), Code::Invalid) << url;
  EXPECT_EQ(*image_wanted(node_with({{"disk.0.os.flavour", "ubuntu"}})),
            "Canonical/0001-com-ubuntu-server-jammy/22_04-lts-gen2/latest");
  EXPECT_EQ(*image_wanted(node_with({})), "Debian/debian-12/12-gen2/latest");
}

TEST(AzurePlaces, AreNamedByTheFile) {
  EXPECT_EQ(region_named(node_with({{"availability_zone", "westeurope"}})), "westeurope");
  EXPECT_EQ(zone_named(node_with({{"availability_zone", "westeurope"}})), "");
  for (const char* text : {"westeurope-2", "westeurope/2"}) {
    EXPECT_EQ(region_named(node_with({{"availability_zone", text}})), "westeurope");
    EXPECT_EQ(zone_named(node_with({{"availability_zone", text}})), "2");
  }
  EXPECT_EQ(zones_named(node_with({{"availability_zone", "westeurope-2,westeurope/3,1"}})),
            (std::vector<std::string>{"2", "3", "1"}));
  EXPECT_TRUE(zones_named(node_with({{"availability_zone", "westeurope-2,westeurope"}})).empty());
  EXPECT_EQ(zone_named(node_with({{"availability_zone", "3"}})), "3");
  EXPECT_FALSE(is_region_name("West Europe"));
}

// Why a node cannot be in a place; "" where it can.
std::string refused(const ir::Node& node, const CloudId& cloud = kHere, const Survey& survey = {}) {
  static const Catalog catalog = built_in_catalog();
  const ir::Program program;
  return check_node(cloud, node, {program, {}, survey, catalog}).text();
}

TEST(AzurePlaces, ARegionThatThereIsNotIsSaidWithTheOneThatIsMeant) {
  const CloudId wrong{"azure", "", "westeurop"};
  const ir::Node node = node_with({{"instance_type", "Standard_D2s_v5"}});
  const std::string said = refused(node, wrong);
  EXPECT_NE(said.find("region 'westeurop' not found"), std::string::npos) << said;
  EXPECT_NE(said.find("did you mean westeurope?"), std::string::npos) << said;
  Survey survey;
  survey.facts = {{"families", {{"Standard_D2s_v5", "standardDSv5Family"}}}};
  EXPECT_EQ(refused(node, wrong, survey), "") << "Azure itself has answered for it";
  EXPECT_EQ(refused(node, {"azure", "", "atlantiscentral"}), "") << "nothing like it is known: it may be new";
}

TEST(AzureSizes, PremiumDisksAreForSizesWithAnS) {
  auto with = [](const char* machine, const char* disk, int index) {
    ir::Node node = node_with({{"instance_type", machine}});
    ir::Disk one;
    one.index = index;
    one.type = disk;
    one.size_bytes = 40e9;
    node.disks.push_back(one);
    return node;
  };
  const std::string said = refused(with("Standard_D2_v5", "Premium_LRS", 1));
  EXPECT_NE(
      said.find("disk.1.type = 'Premium_LRS': a machine of type Standard_D2_v5 does not take such a disk"),
      std::string::npos)
      << said;
  EXPECT_NE(said.find("it takes Standard_LRS, StandardSSD_LRS, StandardSSD_ZRS;"), std::string::npos) << said;
  EXPECT_EQ(refused(with("Standard_D2_v5", "StandardSSD_LRS", 0)), "");
  for (const char* size : {"Standard_D2s_v5", "Standard_D2as_v5", "Standard_B2s", "Standard_DS2_v2",
                           "Standard_NC4as_T4_v3", "Standard_NC24ads_A100_v4", "Standard_HB120rs_v3"})
    EXPECT_EQ(refused(with(size, "Premium_LRS", 0)), "") << size;
  EXPECT_NE(refused(with("Standard_D2s_v5", "Premum_LRS", 0)).find("did you mean Premium_LRS?"),
            std::string::npos);
  EXPECT_NE(refused(with("Standard_D2s_v5", "UltraSSD_LRS", 0)).find("cannot start from"), std::string::npos);
}

TEST(AzureSizes, ThoseWithNvmeAloneAndThoseForArmAreTakenWhereTheFileSaysSo) {
  EXPECT_TRUE(needs_nvme("Standard_D2s_v6") && needs_nvme("Standard_L8s_v4") &&
              needs_nvme("Standard_FX2ms_v2"));
  EXPECT_FALSE(needs_nvme("Standard_D2s_v5") || needs_nvme("Standard_L8s_v3") || needs_nvme("Standard_B2s"));
  EXPECT_TRUE(is_arm("Standard_D2ps_v5") && is_arm("Standard_B2pls_v2"));
  EXPECT_FALSE(is_arm("Standard_D2s_v5") || is_arm("Standard_NC4as_T4_v3"));
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  program.nodes[0].requirements["cpu.count"].min = 4;
  auto chosen = designed(program);
  ASSERT_TRUE(chosen.ok()) << chosen.status().text();
  for (const Offer& offer : find(*chosen, "worker[0]")->offers)
    EXPECT_FALSE(needs_nvme(offer.name)) << offer.name;
  program.nodes[0].requirements["instance_type"].equals = "Standard_D4as_v6";
  EXPECT_TRUE(designed(program).ok());
  program.nodes[0].requirements.erase("instance_type");
  program.nodes[0].requirements["cpu.arch"].equals = "arm64";
  auto arm = designed(program);
  ASSERT_TRUE(arm.ok()) << arm.status().text();
  const Wanted& machine = *find(*arm, "worker[0]");
  for (const Offer& offer : machine.offers) {
    EXPECT_TRUE(is_arm(offer.name)) << offer.name;
    EXPECT_EQ(offered_spec(machine.spec, offer)["image"], "Debian/debian-12/12-arm64/latest");
  }
  program.nodes[0].requirements["disk.0.os.flavour"].equals = "debian";
  program.nodes[0].requirements["disk.0.os.version"].equals = "11";
  EXPECT_NE(designed(program).status().text().find("arm64 processors"), std::string::npos);
}

TEST(AzureRanges, DoNotOverlapAndStayWhereTheyAre) {
  auto one = ranges_of({{"default", ""}, {"lan", ""}});
  auto two = ranges_of({{"default", ""}, {"back", "10.*.0.0/24"}, {"lan", ""}, {"front", "192.168.7.0/24"}});
  ASSERT_TRUE(one.ok() && two.ok()) << two.status().text();
  EXPECT_EQ(one->subnets["lan"], two->subnets["lan"]) << "another network in the file moved this one";
  EXPECT_EQ(two->subnets["back"], "10.0.0.0/24");
  EXPECT_EQ(two->whole, (std::vector<std::string>{"10.0.0.0/8", "192.168.7.0/24"}));
  EXPECT_EQ(ranges_of({{"a", "10.1.0.0/16"}, {"b", "10.1.2.0/24"}}).status().code(), Code::Invalid);
  for (const char* text : {"10.0.0.0", "10.0.0.1/24", "10.0.0.0/30", "fd00::/64"})
    EXPECT_EQ(ranges_of({{"a", text}}).status().code(), Code::Invalid) << text;
}

TEST(AzureIds, AreTheSameWhateverLettersTheServiceWrites) {
  const std::string id = "resourceGroups/radlc-1/providers/Microsoft.Compute/virtualMachines/radlc-1-w";
  EXPECT_EQ(
      id_in("/subscriptions/S/resourceGroups/RADLC-1/providers/Microsoft.Compute/virtualMachines/radlc-1-w"),
      id);
  EXPECT_EQ(
      id_in("/subscriptions/s/resourcegroups/radlc-1/providers/microsoft.compute/virtualmachines/RADLC-1-W"),
      id);
  EXPECT_EQ(id_in("/subscriptions/S"), "");
}

TEST(AzureMachines, AChangeThatFailedLeavesAMachineAndACreationThatFailedDoesNot) {
  auto phase = [](const std::string& provisioning, const std::string& power) {
    MachineNow now;
    now.provisioning = provisioning;
    now.power = power;
    return phase_of_machine(now);
  };
  EXPECT_EQ(phase("Succeeded", "running"), ResourcePhase::Ready);
  EXPECT_EQ(phase("Succeeded", "deallocated"), ResourcePhase::Stopped);
  EXPECT_EQ(phase("Succeeded", "starting"), ResourcePhase::Pending);
  EXPECT_EQ(phase("Creating", ""), ResourcePhase::Pending);
  EXPECT_EQ(phase("Failed", ""), ResourcePhase::Broken);
  EXPECT_EQ(phase("Failed", "running"), ResourcePhase::Ready);
  EXPECT_EQ(phase("Failed", "deallocated"), ResourcePhase::Stopped);
  EXPECT_EQ(phase("Deleting", "running"), ResourcePhase::Leaving);
}

TEST(AzureDesign, AMachineHasItsInterfaceInItsGroupsAndEverythingIsInOneResourceGroup) {
  const ir::Program program = test::ProgramBuilder().deploy({"worker", 2}).build();
  auto design = designed(program);
  ASSERT_TRUE(design.ok()) << design.status().text();
  ASSERT_TRUE(find(*design, "interface.worker[0]") && find(*design, "worker[1]"));
  EXPECT_EQ(find(*design, "worker[0]")->spec["interface"], "interface.worker[0]");
  for (const Wanted& one : design->resources) {
    const auto& references = one.references;
    const bool in_group =
        std::count(references.begin(), references.end(), "resource_group.azure:/eastus") == 1;
    EXPECT_EQ(in_group, one.type != "resource_group") << one.address;
  }
}

std::string many_tags(int count) {
  std::string tags;
  for (int i = 0; i < count; ++i) tags += (tags.empty() ? "t" : ",t") + std::to_string(i) + "=x";
  return tags;
}

TEST(AzureDesign, AnAddressThatTheSubnetDoesNotGiveIsRefused) {
  ir::Program program = test::ProgramBuilder().deploy({"worker", 1}).build();
  program.networks[0].is_public = false;
  program.networks[0].features["create"] = "yes";
  program.networks[0].features["cidr"] = "10.1.2.0/28";
  for (const auto& [address, word] :
       {std::pair("10.1.2.3", "reserves the first 4"), std::pair("10.1.2.15", "the last 1"),
        std::pair("10.1.3.4", "not an address of network"), std::pair("10.1.2.4", ""),
        std::pair("10.1.2.14", "")}) {
    ASSERT_FALSE(program.nodes.front().interfaces.empty());
    program.nodes.front().interfaces.front().fixed_ip = address;
    const Status refused = designed(program).status();
    EXPECT_EQ(refused.ok(), *word == '\0') << address << refused.text();
    EXPECT_NE(refused.text().find(word), std::string::npos) << refused.text();
  }
}

TEST(AzureDesign, ALoginThatCannotBeIsRefused) {
  ir::Program program = test::ProgramBuilder().deploy({"worker", 1}).build();
  static const Catalog catalog = built_in_catalog();
  const Survey survey;
  auto refused = [&](const std::string& user) {
    program.nodes.front().user = user;
    return check_node(kHere, program.nodes.front(), {program, {}, survey, catalog}).text();
  };
  for (const char* user : {"root", "Admin", "Bob Smith", "-x"}) EXPECT_NE(refused(user), "") << user;
  for (const char* user : {"", "bob", "Bob.Smith"}) EXPECT_EQ(refused(user), "") << user;
}

TEST(AzureDesign, WhatAzureCannotDoIsSaidBeforeAnybodyPays) {
  const std::pair<std::map<std::string, std::string>, const char*> kCases[] = {
      {{{"stop.idle", "30m"}}, "Azure bills"},
      {{{"placement_group", "spread"}}, "placement_group"},
      {{{"instance_tags", "a<b=c"}}, "instance_tags"},
      {{{"instance_tags", "a=b,Azure-team=c"}}, "reserved in Azure"},
      {{{"instance_tags", many_tags(47)}}, "47 tags"},
      {{{"disk.0.os.name", "windows"}}, "Linux"}};
  for (const auto& [features, word] : kCases) {
    ir::Program program = test::ProgramBuilder().deploy({"worker", 1}).build();
    for (const auto& [name, value] : features) program.nodes.front().requirements[name].equals = value;
    static const Catalog catalog = built_in_catalog();
    const Survey survey;
    const Status refused = check_node(kHere, program.nodes.front(), {program, {}, survey, catalog});
    EXPECT_EQ(refused.code(), Code::Invalid) << word;
    EXPECT_NE(refused.text().find(word), std::string::npos) << refused.text();
  }
}

TEST(AzureDesign, AnExistingDiskUsesOneOfAMachinesSlots) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  const std::string first = find(*designed(program), "worker[0]")->offers.front().name;
  Survey survey;
  survey.facts = {{"data_disks", {{first, 0}}}};
  ir::Disk disk;
  disk.index = 1;
  disk.image_urls = {"azr://disk/group/data"};
  program.nodes[0].disks.push_back(disk);
  EXPECT_NE(find(*designed(program, survey), "worker[0]")->offers.front().name, first);
}

TEST(AzureDesign, ASurveyKeepsFromTypesThatMayNotBeHadAndFromTooMany) {
  ir::Program program = test::ProgramBuilder().deploy({"worker", 2}).build();
  auto cheapest = designed(program);
  ASSERT_TRUE(cheapest.ok());
  const std::string first = find(*cheapest, "worker[0]")->offers.front().name;
  Survey survey;
  survey.facts = {{"restricted", {{first, {{"region", "NotAvailableForSubscription"}}}}}};
  auto other = designed(program, survey);
  ASSERT_TRUE(other.ok()) << other.status().text();
  EXPECT_NE(find(*other, "worker[0]")->offers.front().name, first);
  // One that does not take the disks is no choice either.
  survey.facts = {{"data_disks", {{first, 1}}}};
  EXPECT_EQ(find(*designed(program, survey), "worker[0]")->offers.front().name, first);
  ir::Program with_disks = program;
  for (ir::Node& node : with_disks.nodes)
    for (int index : {1, 2}) {
      ir::Disk disk;
      disk.index = index;
      disk.size_bytes = 1e10;
      node.disks.push_back(disk);
    }
  auto larger = designed(with_disks, survey);
  ASSERT_TRUE(larger.ok()) << larger.status().text();
  EXPECT_NE(find(*larger, "worker[0]")->offers.front().name, first);
  for (ir::Node& node : with_disks.nodes) node.requirements["instance_type"].equals = first;
  const Status full = designed(with_disks, survey).status();
  EXPECT_NE(full.text().find("takes 1 further disks, not 2"), std::string::npos) << full.text();
  survey.facts = {{"quotas", {{"cores", {{"limit", 3}, {"used", 2}}}}}, {"own", Json::object()}};
  const Status quota = designed(program, survey).status();
  EXPECT_EQ(quota.code(), Code::Quota);
  EXPECT_NE(quota.text().find("cores"), std::string::npos) << quota.text();
}

TEST(AzureQuotas, AMachineTakesFromTheRegionAndItsFamilyOrFromThoseOfSpotMachines) {
  static const Catalog catalog = built_in_catalog();
  const CloudId cloud{"azure", "", "eastus"};
  auto type = catalog.find("azure", "eastus", "Standard_D4s_v3");
  ASSERT_TRUE(type.ok() && *type != nullptr);
  Survey survey;
  survey.facts = {{"families", {{"Standard_D4s_v3", "standardDSv3Family"}}},
                  {"quotas",
                   {{"cores", {{"limit", 100}, {"used", 50}}},
                    {"standardDSv3Family", {{"limit", 10}, {"used", 8}}},
                    {"lowPriorityCores", {{"limit", 20}, {"used", 4}}}}},
                  {"own", {{"Standard_D4s_v3", 1}, {"Standard_D4s_v3/spot", 1}}}};
  auto uses = machine_quota_uses(cloud, **type, Market::OnDemand, survey, catalog, quotas_taken(survey));
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].room, 54) << "four of the fifty are ours";
  EXPECT_EQ(uses[1].name, "standardDSv3Family");
  EXPECT_EQ(uses[1].each, 4);
  EXPECT_EQ(uses[1].room, 6);
  uses = machine_quota_uses(cloud, **type, Market::Spot, survey, catalog, quotas_taken(survey));
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].name, "lowPriorityCores");
  EXPECT_EQ(uses[0].room, 20);
}

}  // namespace
}  // namespace radl::azure
