// What a file asks for that radlc does not have.
#include "runtime/clouds/elsewhere.h"

#include <gtest/gtest.h>

#include "runtime/clouds/cloud_set.h"

namespace radl {
namespace {

ir::Node node_of(const std::string& system, const std::string& cloud, std::vector<std::string> images) {
  ir::Node node;
  node.address = system + "[0]";
  node.system = system;
  node.cloud = cloud;
  ir::Disk root;
  root.image_urls = std::move(images);
  node.disks = {root};
  return node;
}

TEST(Elsewhere, ACloudThatIsNotThereIsSaidOnceASystem) {
  ir::Program program;
  program.nodes = {node_of("front", "OpenNebula", {}), node_of("front", "OpenNebula", {}),
                   node_of("worker", "", {"one://host/1", "docker://debian"}),
                   node_of("other", "ec2", {"aws://r/ami-1"})};
  const auto asked = asked_elsewhere(program);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(
      asked[0].text,
      "system 'front': OpenNebula, which its `deploy` names ('OpenNebula'), is not among radlc's clouds");
  EXPECT_EQ(asked[1].text,
            "system 'worker': OpenNebula, which its image is for, is not among radlc's clouds");
}

TEST(Elsewhere, AnImageForOneCloudOfManyIsEnough) {
  ir::Program program;
  program.nodes = {node_of("worker", "", {"one://host/1", "ost://host/2"}), node_of("plain", "", {})};
  EXPECT_TRUE(asked_elsewhere(program).empty());
}

TEST(Elsewhere, APlanThatNamesSuchACloudSaysWhichThereAre) {
  CloudSet clouds;
  clouds.by_name["openstack"] = "openstack";
  const Status why = clouds.why_not("kubernetes");
  EXPECT_EQ(why.message(), "unknown cloud 'kubernetes': Kubernetes is not supported");
  EXPECT_NE(why.hint().find("openstack"), std::string::npos);
  EXPECT_EQ(CloudSet().why_not("nowhere").message(), "unknown cloud 'nowhere'");
}

// A file that is taken for one that may ask is compiled whole only to be sure, which takes seconds where it
// is large.
TEST(Elsewhere, AFileIsOnlySuspectedForWhatItSays) {
  EXPECT_TRUE(may_ask_elsewhere("system a (disk.0.image.url = 'one://host/1')\ndeploy a 1"));
  EXPECT_TRUE(may_ask_elsewhere("system a (disk.0.image.url = 'Docker://debian')\ndeploy a 1"));
  EXPECT_TRUE(may_ask_elsewhere("system a ()\ndeploy a 1 OpenNebula\n"));
  EXPECT_TRUE(may_ask_elsewhere(
      "radl 2\ninput where (default = 'kubernetes')\nsystem a ()\ndeploy a 1 '${input.where}'\n"));
  EXPECT_FALSE(
      may_ask_elsewhere("system a (disk.0.image.url = 'aws://us-east-1/ami-1')\nconfigure a (\n@begin\n"
                        "- command: echo one docker and its lambda, done by ch\n@end\n)\ndeploy a 1 ec2\n"));
  EXPECT_FALSE(may_ask_elsewhere("# see https://one.example/docker\nsystem one ()\ndeploy chief 1"));
  EXPECT_FALSE(may_ask_elsewhere(""));
  EXPECT_FALSE(may_ask_elsewhere("y/"));
}

TEST(Elsewhere, SupportedCloudsAndImagesAreNotReportedAsMissing) {
  for (const char* name : {"ec2", "gce", "openstack", "local", "hosts", "azure", ""})
    EXPECT_EQ(cloud_elsewhere(name), "");
  for (const char* url :
       {"aws://r/ami-1", "ost://h/1", "gce://r/i", "azr://i", "appdb://s/i?vo", "ssh://host", "debian"})
    EXPECT_EQ(image_elsewhere(url), "") << url;
}

}  // namespace
}  // namespace radl
