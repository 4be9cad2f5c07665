// Designs of OpenStack without a cloud: images, volumes, flavors, quotas, networks and disks.
#include <gtest/gtest.h>

#include "runtime/clouds/naming.h"
#include "runtime/clouds/openstack/design.h"
#include "runtime/clouds/openstack/flavors.h"
#include "runtime/clouds/openstack/images.h"
#include "runtime/clouds/openstack/openstack_cloud.h"
#include "runtime/clouds/openstack/quotas.h"
#include "runtime/clouds/openstack/volumes.h"
#include "tests/support/runtime_programs.h"

namespace radl::openstack {
namespace {

const Place kPlace{{"openstack", "", "RegionOne"}, "keystone.example.org"};

ir::Node node_with(std::map<std::string, std::string> features) {
  ir::Node node;
  node.address = "worker[0]";
  node.system = "worker";
  for (const auto& [name, value] : features) node.requirements[name].equals = value;
  return node;
}

DesignInput input_of(const ir::Program& program, const Survey& survey, const Catalog& catalog) {
  DesignInput input{program, {}, survey, catalog};
  for (const ir::Node& node : program.nodes) input.nodes.push_back(&node);
  return input;
}

Result<Design> designed(const ir::Program& program, const Survey& survey = {},
                        const Catalog& catalog = built_in_catalog()) {
  return design_resources(kPlace, input_of(program, survey, catalog));
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

TEST(OpenStackDisks, AreEncryptedAsTheFileAsks) {
  const auto design = designed(with_encryption("yes", ""));
  ASSERT_TRUE(design.ok()) << design.status().text();
  EXPECT_TRUE(notes_say(*design, "disk.0 is not encrypted by radlc"));
  EXPECT_TRUE(notes_say(*design, "disk.1 is not encrypted by radlc"));
  EXPECT_FALSE(notes_say(*designed(with_encryption("no", "")), "encrypted"));
}

TEST(OpenStackImages, AUrlNamesCloudAndImage) {
  ir::Node node;
  ir::Disk disk;
  disk.image_urls = {"aws://eu-west-1/ami-1", "ost://other.example:5000/x",
                     "ost://Keystone.example.org:5000/debian%2012"};
  node.disks.push_back(disk);
  EXPECT_EQ(image_wanted(node, "keystone.example.org", "")->text, "debian 12") << "the one of the cloud";
  EXPECT_EQ(image_wanted(node, "nowhere.example", "")->host, "other.example")
      << "none: the first is complained of";
  node.disks[0].image_urls = {"aws://eu-west-1/ami-1"};
  EXPECT_EQ(image_wanted(node).status().code(), Code::Invalid);
  node.disks[0].image_urls = {"appdb://SITE/egi.ubuntu.22.04?vo.example"};
  EXPECT_TRUE(image_wanted(node).ok());
  node.disks[0].image_urls.push_back("appdb://other-site/egi.ubuntu.22.04?vo.example");
  EXPECT_EQ(image_wanted(node, "", "OTHER-SITE")->site, "other-site") << "the one of the site";
  EXPECT_EQ(image_wanted(node, "", "nowhere")->site, "SITE");
  node.disks[0].image_urls = {"egi://SITE/egi_vm_images/ubuntu:24.04?vo.example"};
  EXPECT_EQ(image_wanted(node)->site, "SITE");
  EXPECT_EQ(image_wanted(node)->text, "egi://SITE/egi_vm_images/ubuntu:24.04?vo.example");
  node.disks[0].image_urls = {"egi://ubuntu?vo.example"};
  EXPECT_FALSE(image_wanted(node).ok()) << "no site";
  node.disks[0].image_urls = {"ost://h/image/5f1c"};
  EXPECT_EQ(image_wanted(node)->text, "5f1c");
  node.disks[0].image_urls = {"ost://h/volume/root-a", "ost://h/volume/root-b"};
  EXPECT_EQ(image_wanted(node)->text, "volume:root-a");
  node.ordinal = 1;
  EXPECT_EQ(image_wanted(node)->text, "volume:root-b") << "of volumes each node has its own";
  EXPECT_EQ(image_wanted(node_with({}))->text, "system:debian:12");
  EXPECT_EQ(image_wanted(node_with({{"disk.0.os.flavour", "Ubuntu"}, {"disk.0.os.version", "22.04"}}))->text,
            "system:ubuntu:22.04");
}

TEST(OpenStackVolumes, AUrlNamesOneOfThisCloud) {
  EXPECT_EQ(volume_in_url("ost://keystone.example.org:5000/volume/data%20a", "keystone.example.org"),
            "data a");
  EXPECT_EQ(volume_in_url("ost://Keystone.Example.org/5f1c", "keystone.example.org"), "5f1c");
  EXPECT_EQ(volume_in_url("ost://elsewhere.example/5f1c", "keystone.example.org"), "");
  EXPECT_EQ(volume_in_url("ost://elsewhere.example/5f1c", ""), "5f1c") << "offline nobody knows";
  EXPECT_EQ(volume_in_url("5f1c", "keystone.example.org"), "5f1c");
  EXPECT_EQ(volume_in_url("aws://eu-west-1/snap-1", "keystone.example.org"), "");
}

std::vector<Flavor> some_flavors() {
  std::vector<Flavor> flavors;
  for (
      const char* text :
      {R"({"id":"3","name":"large","vcpus":8,"ram":16384,"disk":40})",
       R"({"id":"1","name":"tiny","vcpus":1,"ram":512,"disk":1})",
       R"({"id":"2","name":"small","vcpus":2,"ram":2048,"disk":10})",
       R"({"id":"4","name":"gpu","vcpus":2,"ram":2048,"disk":10,"extra_specs":{"pci_passthrough:alias":"nvidia-a100:2"}})"})
    flavors.push_back(flavor_in(Json::parse(text)));
  return flavors;
}

TEST(OpenStackFlavors, TheSmallestThatFitsIsTaken) {
  const auto flavors = some_flavors();
  ir::Node node = node_with({});
  node.requirements["cpu.count"].min = 2;
  auto fit = fitting_flavors(node, flavors, "cloud");
  ASSERT_TRUE(fit.ok()) << fit.status().text();
  EXPECT_EQ(fit->front()->type.name, "small") << "none with graphics processors where none are asked for";
  auto many = flavors;
  many.push_back(flavor_in(Json::parse(R"({"id":"5","name":"wide","vcpus":1,"ram":1048576,"disk":1})")));
  ir::Node any = node_with({});
  any.requirements["memory.size"].min = 1024 * kMiB;
  EXPECT_EQ(fitting_flavors(any, many, "cloud")->front()->type.name, "small") << "a core less is not all";
  node.requirements["gpu.count"].min = 1;
  node.requirements["gpu.model"].equals = "A100";
  EXPECT_EQ((*fitting_flavors(node, flavors, "cloud")).front()->type.name, "gpu");
  node.requirements["memory.size"].min = 1e15;
  auto none = fitting_flavors(node, flavors, "cloud");
  EXPECT_EQ(none.status().code(), Code::Invalid);
  EXPECT_NE(none.status().message().find("memory.size"), std::string::npos) << none.status().message();
}

TEST(OpenStackFlavors, RequestsAreReadBackFromASpec) {
  ir::Node node = node_with({{"instance_type", "m1.*"}});
  node.requirements["cpu.count"].min = 2;
  node.requirements["memory.size"].min = 4e9;
  node.requirements["memory.size"].min_strict = true;
  EXPECT_EQ(flavor_wanted(node_of_wish("x", flavor_wanted(node))), flavor_wanted(node));
}

TEST(OpenStackDesign, APlanNeedsNeitherNetworkNorCredentials) {
  auto design = designed(test::ProgramBuilder().deploy({"worker", 2}).build());
  ASSERT_TRUE(design.ok()) << design.status().text();
  const Wanted* worker = find(*design, "worker[0]");
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->type, "server");
  ASSERT_EQ(worker->offers.size(), 1u);
  EXPECT_FALSE(worker->offers[0].facts.priced) << "flavors have no price";
  EXPECT_FALSE(find(*design, "address.worker[0]")) << "a private network has no floating address";
}

TEST(OpenStackDesign, AFurtherDiskIsAVolumeThatIsAttachedAsTheMachineIsMade) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  ir::Disk disk;
  disk.index = 1;
  disk.size_bytes = 2147483648.0;
  disk.device = "vdb";
  program.nodes[0].disks.push_back(disk);
  auto design = designed(program);
  ASSERT_TRUE(design.ok()) << design.status().text();
  const Wanted* volume = find(*design, "volume.worker[0].1");
  ASSERT_TRUE(volume);
  EXPECT_EQ(volume->spec, Json({{"size_gib", 2}}));
  EXPECT_EQ(volume->summary, "volume of 2 GiB for worker[0]");
  EXPECT_EQ(find(*design, "worker[0]")->spec["volumes"], Json({{"b", "volume.worker[0].1"}}));
}

TEST(OpenStackDesign, ASurveyTellsTheFlavorAndChangesNoSpec) {
  const ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  Survey survey;
  for (const Flavor& flavor : some_flavors()) survey.facts["flavors"].push_back(to_json(flavor));
  auto offline = designed(program), seen = designed(program, survey);
  ASSERT_TRUE(offline.ok() && seen.ok()) << seen.status().text();
  EXPECT_EQ(find(*seen, "worker[0]")->offers[0].name, "small");
  EXPECT_EQ(offered_spec(find(*offline, "worker[0]")->spec, find(*offline, "worker[0]")->offers[0]),
            offered_spec(find(*seen, "worker[0]")->spec, find(*seen, "worker[0]")->offers[0]));
}

// Extra specs as Nova documents them, without cpu.arch in the file.
TEST(OpenStackDesign, AnImageStartsOnFlavorsOfItsArchitecture) {
  const auto flavor = [](const char* name, int cores, Json extra) {
    return flavor_in(
        {{"id", name}, {"name", name}, {"vcpus", cores}, {"ram", 4096}, {"extra_specs", std::move(extra)}});
  };
  const ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  auto image = image_wanted(program.nodes[0]);
  ASSERT_TRUE(image.ok());
  Survey survey;
  survey.facts["image_architectures"][image->text] = "arm64";
  survey.facts["flavors"] = {to_json(flavor("x", 2, {{"trait:HW_ARCH_X86_64", "required"}})),
                             to_json(flavor("arm", 3, {{"capabilities:cpu_info:arch", "s== aarch64"}})),
                             to_json(flavor("any", 8, Json::object()))};
  const auto offered = [&] {
    auto design = designed(program, survey);
    return design.ok() ? find(*design, "worker[0]")->offers[0].name : design.status().text();
  };
  EXPECT_EQ(offered(), "arm");
  survey.facts["image_architectures"][image->text] = "x86_64";
  EXPECT_EQ(offered(), "x");
  survey.facts["image_architectures"][image->text] = "";
  EXPECT_EQ(offered(), "x") << "nobody knows";
  survey.facts["image_architectures"][image->text] = "arm64";
  survey.facts["flavors"].erase(1);
  EXPECT_EQ(offered(), "any") << "the scheduler finds a host";
  survey.facts["flavors"].erase(1);
  EXPECT_EQ(designed(program, survey).status().code(), Code::Invalid);
}

TEST(OpenStackDesign, AnImageThatNamesNoProcessorStartsOnFlavorsOfTheFilesArchitecture) {
  const auto flavor = [](const char* name, int cores, Json extra) {
    return flavor_in(
        {{"id", name}, {"name", name}, {"vcpus", cores}, {"ram", 4096}, {"extra_specs", std::move(extra)}});
  };
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  program.nodes[0].requirements["cpu.arch"].equals = "aarch64";
  auto image = image_wanted(program.nodes[0]);
  ASSERT_TRUE(image.ok());
  Survey survey;
  survey.facts["image_architectures"][image->text] = "";
  survey.facts["flavors"] = {to_json(flavor("x", 2, {{"trait:HW_ARCH_X86_64", "required"}})),
                             to_json(flavor("arm", 3, {{"trait:HW_ARCH_AARCH64", "required"}}))};
  auto design = designed(program, survey);
  ASSERT_TRUE(design.ok()) << design.status().text();
  EXPECT_EQ(find(*design, "worker[0]")->offers[0].name, "arm");
  // The launch chooses by the spec alone.
  Order order;
  order.spec = find(*design, "worker[0]")->spec;
  std::vector<Flavor> flavors;
  for (const Json& one : survey.facts["flavors"]) flavors.push_back(flavor_from_json(one));
  auto fit = fitting_flavors(wish_of(order), flavors, "openstack");
  ASSERT_TRUE(fit.ok()) << fit.status().text();
  EXPECT_EQ(fit->front()->type.name, "arm");
  survey.facts["flavors"].erase(1);
  EXPECT_EQ(designed(program, survey).status().code(), Code::Invalid);
}

TEST(OpenStackDesign, APlanTellsOfAQuotaThatIsTooSmall) {
  const ir::Program program = test::ProgramBuilder().deploy({"worker", 3}).build();
  Survey survey;
  survey.facts["quotas"]["instances"] = {{"limit", 4}, {"used", 3}, {"ours", 1}};
  auto design = designed(program, survey);
  ASSERT_FALSE(design.ok());
  EXPECT_EQ(design.status().code(), Code::Quota);
  EXPECT_NE(design.status().message().find(
                "quota of instances of this project is 4; 2 are in use, and this plan needs 3"),
            std::string::npos)
      << design.status().message();
  survey.facts["quotas"]["instances"]["ours"] = 2;
  EXPECT_TRUE(designed(program, survey).ok()) << "what is already ours counts once";
}

TEST(OpenStackDesign, ARootDiskThatIsAVolumeTakesFromTheQuotaOfVolumes) {
  ir::Program program = test::ProgramBuilder().deploy({"worker", 2}).build();
  for (ir::Node& node : program.nodes) {
    ir::Disk disk;
    disk.index = 0;
    disk.size_bytes = 21474836480.0;
    node.disks.push_back(disk);
  }
  Flavor flavor;
  flavor.id = "1";
  flavor.disk_gib = 10;
  flavor.type.name = "m1.small";
  flavor.type.cpu = 2;
  flavor.type.memory_bytes = 8589934592.0;
  Survey survey;
  survey.facts["flavors"] = {to_json(flavor)};
  survey.facts["quotas"]["volume_gib"] = {{"limit", 39}, {"used", 0}, {"ours", 0}};
  EXPECT_NE(designed(program, survey)
                .status()
                .message()
                .find("volume gib of this project is 39; 0 are in use, and this plan needs 40"),
            std::string::npos)
      << designed(program, survey).status().text();
  flavor.disk_gib = 20;
  survey.facts["flavors"] = {to_json(flavor)};
  EXPECT_TRUE(designed(program, survey).ok()) << "the flavor's own disk is enough";
}

TEST(OpenStackDesign, DisksThatAreThereAreForOneMachineEach) {
  ir::Program program = test::ProgramBuilder().deploy({.system = "worker", .count = 2}).build();
  ir::Disk disk;
  disk.index = 1;
  disk.image_urls = {"ost://keystone.example.org/volume/a", "ost://keystone.example.org/volume/b"};
  for (ir::Node& node : program.nodes) node.disks = {disk};
  auto design = designed(program);
  ASSERT_TRUE(design.ok()) << design.status().text();
  EXPECT_EQ(find(*design, program.nodes[0].address)->spec["volumes"]["b"], Json({{"existing", "a"}}));
  EXPECT_EQ(find(*design, program.nodes[1].address)->spec["volumes"]["b"], Json({{"existing", "b"}}));
  for (ir::Node& node : program.nodes) node.disks[0].image_urls.pop_back();
  const Status shared = designed(program).status();
  EXPECT_NE(shared.message().find("volume a is for " + program.nodes[0].address + " already"),
            std::string::npos)
      << shared.message();
  for (ir::Node& node : program.nodes) node.disks[0].image_urls = {"aws://r/snap-1"};
  EXPECT_NE(designed(program).status().message().find("is not a volume of OpenStack"), std::string::npos);
}

TEST(OpenStackDesign, APublicAddressThatTheFileNamesIsNotMade) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  program.networks[0].is_public = true;
  program.nodes[0].interfaces.at(0).fixed_ip = "203.0.113.7";
  auto design = designed(program);
  ASSERT_TRUE(design.ok()) << design.status().text();
  const Wanted* worker = find(*design, program.nodes[0].address);
  EXPECT_EQ(worker->spec["public_ip"], "203.0.113.7");
  for (const Wanted& one : design->resources) EXPECT_NE(one.type, "floating_ip");
}

TEST(OpenStackDesign, AZoneThatThereIsNotIsSaidWhereTheyWereLookedAt) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  Survey survey;
  const Catalog catalog = built_in_catalog();
  auto said = [&](const char* zone) {
    program.nodes[0].requirements["availability_zone"].equals = zone;
    return check_node(kPlace, program.nodes[0], input_of(program, survey, catalog));
  };
  EXPECT_TRUE(said("mars").ok()) << "without a look nobody knows";
  survey.facts["zones"] = {"nova", "gpu"};
  for (const char* right : {"nova", "RegionOne/gpu", "nova:compute1"}) EXPECT_TRUE(said(right).ok()) << right;
  EXPECT_EQ(said("mars").message(), "worker[0]: availability_zone = 'mars' is not a zone of this cloud");
  EXPECT_EQ(said("mars").hint(), "it has nova, gpu");
}

TEST(OpenStackDesign, OfSeveralZonesTheNextIsTakenWhereOneHasNoRoom) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  program.nodes[0].requirements["availability_zone"].equals = "RegionOne/a,b";
  auto zones = [&] {
    std::vector<std::string> found;
    auto design = designed(program);
    EXPECT_TRUE(design.ok()) << design.status().text();
    const Wanted* worker = find(*design, "worker[0]");
    for (const Offer& offer : worker->offers)
      found.push_back(offered_spec(worker->spec, offer).value("zone", ""));
    return found;
  };
  EXPECT_EQ(zones(), (std::vector<std::string>{"a", "b"}));
  ir::Disk disk;
  disk.index = 1;
  disk.size_bytes = kGiB;
  program.nodes[0].disks = {disk};
  EXPECT_EQ(zones(), std::vector<std::string>{"a"}) << "the volume is made before the machine";
}

TEST(OpenStackDesign, ARangeThatIsNoneOfIpv4IsSaidByThePlan) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  Survey survey;
  const Catalog catalog = built_in_catalog();
  program.networks[0].features["create"] = "yes";
  for (const char* right : {"10.0.0.0/24", "10.*.*.0/24", ""}) {
    program.networks[0].features["cidr"] = right;
    EXPECT_TRUE(check_node(kPlace, program.nodes[0], input_of(program, survey, catalog)).ok()) << right;
  }
  for (const char* wrong : {"10.0.0.0/33", "fd00:1::/64", "10.0.0.0", "10.*.0/24"}) {
    program.networks[0].features["cidr"] = wrong;
    const Status said = check_node(kPlace, program.nodes[0], input_of(program, survey, catalog));
    EXPECT_NE(said.message().find("is not an IPv4 range"), std::string::npos) << wrong;
  }
}

TEST(OpenStackQuotas, AMachineTakesFromThreeOfThem) {
  InstanceType type;
  type.cpu = 4;
  type.memory_bytes = 8 * kGiB;
  Survey survey;
  survey.facts["quotas"] = {{"instances", {{"limit", 10}, {"used", 6}, {"ours", 1}}},
                            {"cores", {{"limit", 20}, {"used", 8}, {"ours", 0}}},
                            {"memory_mib", {{"limit", -1}, {"used", 5}, {"ours", 0}}}};
  const std::vector<QuotaUse> uses = quota_uses(type, survey);
  ASSERT_EQ(uses.size(), 2u) << "of memory there is no limit";
  EXPECT_EQ(uses[0].room, 5);
  EXPECT_EQ(uses[1].each, 4);
  EXPECT_EQ(uses[1].room, 12);
  EXPECT_TRUE(quota_uses(type, Survey()).empty());
}

TEST(OpenStackDesign, AUsersOwnPricesChooseTheCheapest) {
  Catalog catalog = built_in_catalog();
  ASSERT_TRUE(
      catalog
          .add("radl-catalog 2\ncloud openstack\ncurrency EUR\n[types]\na.small 2 4096 0 - 0 0/0 - x86_64 0\n"
               "b.small 2 4096 0 - 0 0/0 - x86_64 0\n[on-demand RegionOne 2026-01-01]\n- a.small 0.05 "
               "b.small 0.02\n",
               "own.catalog")
          .ok());
  auto design = designed(test::ProgramBuilder().deploy({"worker"}).build(), {}, catalog);
  ASSERT_TRUE(design.ok()) << design.status().text();
  const Wanted* worker = find(*design, "worker[0]");
  EXPECT_EQ(worker->offers[0].name, "b.small");
  EXPECT_EQ(worker->offers[0].price_per_hour.text(), "0.02 EUR");
  EXPECT_EQ(worker->offers[0].spec, Json({{"type", "b.small"}}));
}

TEST(OpenStackDesign, AnImageOfAnotherCloudIsRefused) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  ir::Disk disk;
  disk.image_urls = {"ost://elsewhere.example/debian"};
  program.nodes[0].disks.push_back(disk);
  const Survey none;
  const Catalog catalog = built_in_catalog();
  Status refused = check_node(kPlace, program.nodes[0], input_of(program, none, catalog));
  EXPECT_EQ(refused.code(), Code::Invalid);
  EXPECT_NE(refused.message().find("elsewhere.example"), std::string::npos) << refused.message();
}

TEST(OpenStackDesign, AnImageOfAnotherSiteOfEgisIsRefused) {
  ir::Program program = test::ProgramBuilder().deploy({"worker"}).build();
  ir::Disk root;
  root.image_urls = {"appdb://IFCA-LCG2/egi.ubuntu.22.04?vo.access.egi.eu"};
  program.nodes[0].disks = {root};
  const Catalog catalog = built_in_catalog();
  const Survey survey;
  const DesignInput input = input_of(program, survey, catalog);
  Place place{{"openstack", "egi", ""}, "", "CESGA"};
  const Status refused = check_node(place, program.nodes[0], input);
  EXPECT_EQ(refused.message(),
            "worker[0]: disk.0.image.url is of EGI's site IFCA-LCG2, and the credentials are for CESGA");
  place.egi_site = "ifca-lcg2";
  EXPECT_TRUE(check_node(place, program.nodes[0], input).ok());
}

TEST(OpenStackFamily, AnImageOfEgisGoesToTheCredentialsOfItsSite) {
  Options options;
  options.settings = [](const std::string& account) -> Result<Settings> {
    Settings settings;
    settings.auth["auth_url"] = "https://keystone.example.org:5000";
    if (account == "cesga") settings.egi_site = "CESGA";
    if (account == "ifca") settings.egi_site = "IFCA-LCG2";
    settings.egi_vo = settings.egi_site.empty() ? "" : "vo.access.egi.eu";
    return settings;
  };
  const auto family =
      make_family(environment_of_process(), [options](http::Client&) { return Result<Options>(options); });
  const std::string image = "appdb://IFCA-LCG2/egi.ubuntu.22.04?vo.access.egi.eu";
  EXPECT_TRUE(family->serves_image("ifca", image));
  EXPECT_FALSE(family->serves_image("cesga", image));
  EXPECT_FALSE(family->serves_image("", image));
  EXPECT_FALSE(family->serves_image("ifca", "appdb://IFCA-LCG2/egi.ubuntu.22.04?vo.other.eu"));
  EXPECT_TRUE(family->serves_image("cesga", "appdb://egi.ubuntu.22.04?vo.access.egi.eu")) << "of any site";
  EXPECT_TRUE(family->serves_image("", "ost://keystone.example.org/debian-12"));
  EXPECT_FALSE(family->serves_image("", "ost://elsewhere.example.org/debian-12"));
  EXPECT_FALSE(family->serves_image("cesga", "ost://keystone.example.org/debian-12")) << "another's";
}

}  // namespace
}  // namespace radl::openstack
