// Which instance types a node's features leave, and what is said where they leave none.
#include "runtime/clouds/fitting.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/text.h"
#include "runtime/catalog/burstable.h"

namespace radl {
namespace {

struct Fit : testing::Test {
  // All types of a region of EC2.
  Result<std::vector<const InstanceType*>> fit() {
    return fitting_types({node, *catalog.types("ec2", "us-east-1"), "EC2 in us-east-1"});
  }
  std::string cheapest() {
    auto types = fit();
    return types.ok() ? types->front()->name : types.status().text();
  }
  std::string fault() { return fit().status().message(); }
  void bound(const std::string& feature, std::optional<double> min, std::optional<double> max = {},
             const std::string& unit = "") {
    ir::Requirement wanted;
    wanted.min = min;
    wanted.max = max;
    wanted.unit = unit;
    node.requirements[feature] = wanted;
  }
  void text(const std::string& feature, const std::string& value) {
    node.requirements[feature].equals = value;
  }
  Catalog catalog = built_in_catalog();
  ir::Node node = [] {
    ir::Node made;
    made.address = "worker[0]";
    made.system = "worker";
    return made;
  }();
};

TEST_F(Fit, TheCheapestThatHasAllOfIt) {
  bound("cpu.count", 4);
  bound("memory.size", 16e9);
  EXPECT_EQ(cheapest(), "t3a.xlarge");
  text("cpu.arch", "arm64");
  EXPECT_EQ(cheapest(), "t4g.xlarge");
}

TEST_F(Fit, TypesByCpuCreditsComeLastForATraining) {
  bound("cpu.count", 4);
  bound("memory.size", 16e9);
  Fitting fitting{node, *catalog.types("ec2", "us-east-1"), "EC2 in us-east-1"};
  fitting.sustained = true;
  auto types = fitting_types(fitting);
  ASSERT_TRUE(types.ok());
  const auto by_credits = [](const InstanceType* type) { return burstable("ec2", type->name) != nullptr; };
  const auto first = std::find_if(types->begin(), types->end(), by_credits);
  EXPECT_GT(first - types->begin(), 10);
  EXPECT_TRUE(std::all_of(first, types->end(), by_credits));
  EXPECT_EQ(fit()->size(), types->size());
}

TEST_F(Fit, OnlyNodesOfATrainingOrOfSeveralWorkersTrain) {
  ir::Program program;
  ir::Step step;
  step.nodes = {"worker[0]"};
  for (const ir::StepKind kind : {ir::StepKind::Training, ir::StepKind::Native, ir::StepKind::Program}) {
    step.kind = kind;
    program.steps = {step};
    EXPECT_EQ(trains(program, node), kind == ir::StepKind::Training);
  }
  program.steps[0].program["launcher"] = {"torchrun"};
  EXPECT_TRUE(trains(program, node));
  node.address = "front[0]";
  EXPECT_FALSE(trains(program, node));
}

TEST_F(Fit, NotesForATrainingNameCreditsAndUnusedGpus) {
  ir::Program program;
  ir::Step step;
  step.kind = ir::StepKind::Training;
  step.nodes = {"worker[0]"};
  program.steps = {step};
  auto note = [&](const char* name) {
    const InstanceType* type = *catalog.find("ec2", "us-east-1", name);
    return training_note(program, node, "ec2", offer_of(*type, Market::OnDemand));
  };
  EXPECT_NE(note("t3.xlarge").find("CPU credits"), std::string::npos);
  EXPECT_NE(note("g4dn.xlarge").find("GPUs that the training does not use"), std::string::npos);
  EXPECT_EQ(note("m5.xlarge"), "");
  bound("gpu.count", 1);  // the compiler has warned
  EXPECT_EQ(note("g4dn.xlarge"), "");
  program.steps[0].kind = ir::StepKind::Program;
  program.steps[0].program["launcher"] = {"torchrun"};
  node.requirements.clear();
  EXPECT_EQ(note("g4dn.xlarge"), "");
}

TEST_F(Fit, AnImageIsForX86UnlessTheFileSaysOtherwise) {
  for (const InstanceType* type : *fit()) EXPECT_TRUE(type->runs("x86_64")) << type->name;
  text("cpu.arch", "AMD64");
  for (const InstanceType* type : *fit()) EXPECT_TRUE(type->runs("x86_64")) << type->name;
  node.requirements.clear();
  text("instance_type", "t4g.micro");  // whoever names it has chosen
  EXPECT_EQ(cheapest(), "t4g.micro");
}

TEST_F(Fit, AnImageOfAnUnknownArchitectureRefusesNoMachine) {
  auto boots = [&](const std::string& architecture, const std::string& machine) {
    Survey survey;
    survey.facts["image_architectures"]["image"] = architecture_name(architecture);
    return image_boots(node, survey, "image", "a type", machine).ok();
  };
  for (const char* unknown : {"", "ARCHITECTURE_UNSPECIFIED", "any"}) EXPECT_TRUE(boots(unknown, "x86_64"));
  EXPECT_TRUE(boots("i686", "x86_64,i386"));
  EXPECT_FALSE(boots("i686", "arm64"));
  EXPECT_FALSE(boots("AARCH64", "x86_64,i386"));
  EXPECT_FALSE(boots("X86_64", "arm64"));
}

TEST_F(Fit, APatternMeansTypesForX86IfItMatchesAny) {
  for (const char* pattern : {"*", "m*.large", "t4g.*"}) {
    text("instance_type", pattern);
    const bool only_arm = std::string(pattern) == "t4g.*";
    for (const InstanceType* type : *fit()) EXPECT_EQ(type->runs("x86_64"), !only_arm) << type->name;
    node.requirements.clear();
  }
  text("instance_type", "*");
  text("cpu.arch", "arm64");
  for (const InstanceType* type : *fit()) EXPECT_TRUE(type->runs("arm64")) << type->name;
}

TEST_F(Fit, GpusByCountVendorAndModel) {
  bound("gpu.count", 1);
  text("gpu.vendor", "nvidia");
  EXPECT_EQ(cheapest(), "g4dn.xlarge");
  text("gpu.model", "v100");
  EXPECT_EQ(cheapest(), "p3.2xlarge");
  bound("gpu.count", 8);
  EXPECT_EQ(cheapest(), "p3.16xlarge");
  text("gpu.model", "V900");
  EXPECT_NE(
      fault().find(
          "worker[0]: gpu.model = 'V900': no instance type of EC2 in us-east-1 has that (there is A100"),
      std::string::npos)
      << fault();
}

// As they are sold: an L4 has 24 GB, which are 22.4 GiB.
TEST_F(Fit, GpusByTheMemoryOfEach) {
  bound("gpu.memory", 16e9);  // without a count: one is enough
  for (const InstanceType* type : *fit()) {
    EXPECT_GT(type->gpu, 0) << type->name;
    EXPECT_EQ(type->gpu_vendor, "NVIDIA") << type->name;
  }
  EXPECT_EQ(cheapest(), "g4dn.xlarge");
  bound("gpu.memory", 24e9);
  EXPECT_EQ(cheapest(), "g6.xlarge");
  bound("gpu.count", 8);
  bound("gpu.memory", 80e9);
  EXPECT_EQ(cheapest(), "p4de.24xlarge");
  bound("gpu.memory", 1e12);
  EXPECT_NE(fault().find("worker[0]: gpu.memory: no instance type of EC2 in us-east-1 has that"),
            std::string::npos)
      << fault();
}

// Of EC2's GPUs AMD's are the cheapest.
TEST_F(Fit, GpusAreNvidiasUnlessTheFileSaysOtherwise) {
  bound("gpu.count", 1);
  for (const InstanceType* type : *fit()) EXPECT_EQ(type->gpu_vendor, "NVIDIA") << type->name;
  EXPECT_EQ(cheapest(), "g4dn.xlarge");
  EXPECT_EQ(gpu_note(node),
            "system 'worker': its GPUs are those of NVIDIA, since the file names no gpu.vendor or gpu.model");
  text("gpu.vendor", "AMD");
  EXPECT_EQ(cheapest(), "g4ad.xlarge");
  EXPECT_EQ(gpu_note(node), "");
  node.requirements.erase("gpu.vendor");
  text("gpu.model", "Radeon");
  EXPECT_EQ(cheapest(), "g4ad.xlarge");
  EXPECT_EQ(gpu_note(node), "");
  node.requirements.erase("gpu.model");
  for (const auto& [named, taken] : {std::pair{"g4ad.2xlarge", "g4ad.2xlarge"},
                                     {"g4*", "g4dn.xlarge"},
                                     {"g4ad.*", "g4ad.xlarge"},
                                     {"g4ad.xlarge, g4dn.xlarge", "g4ad.xlarge"}}) {
    text("instance_type", named);  // whoever names it has chosen
    EXPECT_EQ(cheapest(), taken) << named;
  }
  node.requirements.clear();
  bound("gpu.count", {}, 4);  // none is enough
  EXPECT_EQ((*fit()).front()->gpu, 0);
  EXPECT_EQ(gpu_note(node), "");
}

TEST_F(Fit, WhereThereAreOnlyOthersGpusTheFileIsToSaySo) {
  std::vector<const InstanceType*> types;
  for (const InstanceType* type : *catalog.types("ec2", "us-east-1"))
    if (type->gpu == 0 || type->gpu_vendor == "AMD") types.push_back(type);
  bound("gpu.count", 1);
  const Status status = fitting_types({node, types, "EC2"}).status();
  EXPECT_EQ(status.message(), "worker[0]: gpu.count: no instance type of EC2 has a GPU of NVIDIA");
  EXPECT_EQ(status.hint(),
            "radlc chose GPUs of NVIDIA, since the file names no gpu.vendor; there are also GPUs of AMD");
  InstanceType unsaid = *types.front();  // as in OpenStack: "gpu_v100"
  unsaid.architectures = "x86_64";
  unsaid.gpu = 1;
  unsaid.gpu_vendor.clear();
  types.push_back(&unsaid);
  auto fit = fitting_types({node, types, "EC2"});
  ASSERT_TRUE(fit.ok()) << fit.status().text();
  EXPECT_EQ(fit->front(), &unsaid);
  bound("cpu.count", 4096);
  EXPECT_NE(fitting_types({node, types, "EC2"}).status().hint(), "") << "AMD's were left out";
}

TEST_F(Fit, PerformanceInComputeUnits) {
  bound("cpu.performance", 20, {}, "ECU");
  bound("cpu.count", {}, 8);
  const std::string first = cheapest();
  EXPECT_GE((*catalog.find("ec2", "us-east-1", first))->ecu, 20) << first;
  bound("cpu.performance", 20, {}, "GCEU");  // counts as ECU
  EXPECT_EQ(cheapest(), first);
  bound("cpu.performance", 2000, {}, "HRZ");
  EXPECT_EQ(fault(), "worker[0]: cpu.performance in HRZ: EC2 in us-east-1 measures it in ECU");
}

TEST_F(Fit, ATypeByNameOrPattern) {
  text("instance_type", "p3.2xlarge");
  EXPECT_EQ(cheapest(), "p3.2xlarge");
  text("instance_type", "M5.*");
  EXPECT_EQ(cheapest(), "m5.large");
  bound("memory.size", 16 * 1073741824.0);
  EXPECT_EQ(cheapest(), "m5.xlarge");
  text("instance_type", "p3.2xlrge");
  Status status = fit().status();
  EXPECT_EQ(status.message(), "worker[0]: instance_type = 'p3.2xlrge' does not exist in EC2 in us-east-1");
  EXPECT_EQ(status.hint(), "did you mean p3.2xlarge?");
}

TEST_F(Fit, ATypeWithoutItsBeginningIsSaidWithIt) {
  const Catalog catalog = built_in_catalog();
  auto types = catalog.types("azure", "eastus");
  ASSERT_TRUE(types.ok());
  ir::Node node;
  node.address = "worker[0]";
  node.requirements["instance_type"].equals = "D2s_v5";
  auto fit = fitting_types({node, *types, "Azure in eastus", ""});
  EXPECT_EQ(fit.status().hint(), "did you mean Standard_D2s_v5?") << fit.status().text();
}

TEST_F(Fit, SeveralTypesComeInTheirOrder) {
  text("instance_type", "m5.xlarge, p3.2xlarge, m5.large");
  auto types = fit();
  ASSERT_TRUE(types.ok()) << types.status().text();
  std::vector<std::string> names;
  for (const InstanceType* type : *types) names.push_back(type->name);
  EXPECT_EQ(names, (std::vector<std::string>{"m5.xlarge", "p3.2xlarge", "m5.large"}));
}

TEST_F(Fit, APriceLimitsTheChoice) {
  bound("cpu.count", 4);
  bound("price", {}, 0.05);
  EXPECT_EQ(fault(),
            "worker[0]: price: no instance type of EC2 in us-east-1 has that together with the rest (at "
            "least 0.1504 on-demand)")
      << fault();
  text("spot", "yes");  // the same bound, by the spot price
  EXPECT_TRUE(fit().ok()) << fault();
  for (const InstanceType* type : *fit()) EXPECT_LE(type->spot->per_hour.units(), 0.05) << type->name;
}

TEST_F(Fit, TheFeatureThatLeavesNothingIsNamedWithWhatThereIs) {
  bound("gpu.count", 100);
  EXPECT_EQ(fault(),
            "worker[0]: gpu.count: no instance type of EC2 in us-east-1 has that together with the rest (at "
            "most 16)");
  bound("gpu.count", {}, 0);
  bound("cpu.count", 4096);
  EXPECT_NE(fault().find("cpu.count: no instance type"), std::string::npos);
}

TEST_F(Fit, StrictBoundsAreStrict) {
  ir::Requirement more;
  more.min = 4;
  more.min_strict = true;
  EXPECT_FALSE(within(more, 4));
  EXPECT_TRUE(within(more, 4.5));
}

TEST_F(Fit, AnOfferShowsBothMarkets) {
  const InstanceType& type = **catalog.find("ec2", "eu-west-1", "p3.2xlarge");
  Offer spot = offer_of(type, Market::Spot);
  EXPECT_EQ(spot.price_per_hour, type.spot->per_hour);
  EXPECT_EQ(spot.facts.on_demand, type.on_demand->per_hour);
  EXPECT_EQ(spot.facts.as_of, type.spot->as_of);
  EXPECT_EQ(spot.facts.gpu_model, "NVIDIA V100");
  EXPECT_EQ(spot.spec.at("type"), "p3.2xlarge");
}

TEST_F(Fit, RoomOnTheRootDiskIsWantedInWholeGiB) {
  EXPECT_EQ(free_disk_wanted(node), 0);
  bound("disk.0.free_size", 20e9);
  EXPECT_EQ(free_disk_wanted(node), 19) << "18.6";
}

TEST_F(Fit, FeaturesThatNoCloudHeedsAreNamed) {
  text("nat_instance", "no");
  text("net_interface.0.connection", "lan");
  EXPECT_TRUE(features_without_effect(node).empty());
  text("nat_instance", "yes");
  text("net_interface.1.additional_ip", "10.0.0.9");
  EXPECT_EQ(features_without_effect(node),
            (std::vector<std::string>{"nat_instance", "net_interface.1.additional_ip"}));
}

TEST(Pattern, StarsStandForAnyCharacters) {
  EXPECT_TRUE(matches_pattern("m5.large", "m5.*"));
  EXPECT_TRUE(matches_pattern("m5.large", "*"));
  EXPECT_TRUE(matches_pattern("m5.large", "*5*ge"));
  EXPECT_FALSE(matches_pattern("m5a.large", "m5.*"));
  EXPECT_FALSE(matches_pattern("m5.large", "m5"));
  EXPECT_TRUE(matches_pattern("", "**"));
}

}  // namespace
}  // namespace radl
