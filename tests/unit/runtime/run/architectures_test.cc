// The engine of this computer, the types of a training's nodes and the images that they start from.
#include "runtime/run/architectures.h"

#include <gtest/gtest.h>

namespace radl::test {
namespace {

constexpr const char* kCloud = "openstack:project/region";

struct Case {
  ir::Program program;
  Plan plan;
  Snapshot snapshot;
  Catalog catalog;

  Case() {
    ir::Step training;
    training.id = "train";
    training.kind = ir::StepKind::Training;
    training.nodes = {"server[0]", "worker[0]"};
    program.steps.push_back(training);
    for (const char* node : {"server[0]", "worker[0]"}) {
      Action action;
      action.id = node;
      action.verb = Verb::Create;
      action.cloud = kCloud;
      action.spec = {{"image", std::string("image of ") + node}};
      Offer offer;
      offer.name = "m1.small";
      action.offers = {offer};
      plan.actions.push_back(action);
    }
  }
  void image_of(const char* node, const char* architecture) {
    plan.surveys[kCloud].facts["image_architectures"][std::string("image of ") + node] = architecture;
  }
  Status check(const std::string& engine) {
    return check_architectures(program, {"train"}, plan, snapshot, catalog, engine);
  }
};

TEST(Architectures, ImagesOfServerAndWorkersAreForTheEngine) {
  Case site;
  EXPECT_TRUE(site.check("x86_64").ok()) << "no cloud was asked";
  site.image_of("server[0]", "x86_64");
  site.image_of("worker[0]", "x86_64");
  EXPECT_TRUE(site.check("x86_64").ok());
  site.image_of("worker[0]", "arm64");
  const Status mixed = site.check("x86_64");
  EXPECT_EQ(mixed.code(), Code::Invalid);
  EXPECT_NE(mixed.message().find("worker[0]"), std::string::npos) << mixed.text();
  EXPECT_EQ(site.check("arm64").code(), Code::Invalid) << "the server's is for the other one";
  EXPECT_TRUE(site.check("").ok()) << "the engine's is not known";
  site.image_of("worker[0]", "architecture_unspecified");
  EXPECT_TRUE(site.check("x86_64").ok());
}

TEST(Architectures, AnOfferMayBringAnImageOfItsOwn) {
  Case site;
  site.image_of("server[0]", "x86_64");
  site.image_of("worker[0]", "x86_64");
  site.plan.actions[1].offers[0].spec["image"] = "image for arm";
  site.plan.surveys[kCloud].facts["image_architectures"]["image for arm"] = "arm64";
  EXPECT_EQ(site.check("x86_64").code(), Code::Invalid);
}

TEST(Architectures, ANodeThatStaysHasItsImageToo) {
  Case site;
  site.plan.actions.pop_back();
  ResourceRecord record;
  record.address = "worker[0]";
  record.cloud = kCloud;
  record.spec = {{"image", "image of worker[0]"}};
  site.snapshot.resources[record.address] = record;
  site.image_of("worker[0]", "arm64");
  EXPECT_EQ(site.check("x86_64").code(), Code::Invalid);
}

}  // namespace
}  // namespace radl::test
