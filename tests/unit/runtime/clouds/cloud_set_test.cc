// Which cloud a node goes to.
#include "runtime/clouds/cloud_set.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

class TestFamily : public CloudFamily {
 public:
  TestFamily(std::string type, std::string scheme, bool credentials)
      : type_(std::move(type)), scheme_(std::move(scheme)), credentials_(credentials) {}
  const std::string& type() const override { return type_; }
  std::vector<std::string> image_schemes() const override { return {scheme_}; }
  bool has_credentials(const std::string&) const override { return credentials_; }
  bool serves_image(const std::string& account, const std::string& url) const override {
    return url.find("//elsewhere/") == url.npos || account == "other";
  }
  std::string region_for(const ir::Node& node) const override {
    const bool imaged = !node.disks.empty() && !node.disks[0].image_urls.empty();
    return imaged && node.disks[0].image_urls[0].find("//r2/") != std::string::npos ? "r2" : "r1";
  }
  Result<std::unique_ptr<Cloud>> make(const CloudId&) override { return Status(Code::Unsupported, "test"); }

 private:
  const std::string type_, scheme_;
  const bool credentials_;
};

class WhereANodeGoes : public testing::Test {
 protected:
  WhereANodeGoes() {
    clouds.add(amazon);
    clouds.add(google);
  }
  static ir::Node node(std::vector<std::string> images) {
    ir::Node node;
    ir::Disk root;
    root.image_urls = std::move(images);
    node.disks = {root};
    return node;
  }
  static ir::Soft soft(double weight, ir::Json image) {
    ir::Soft soft;
    soft.weight = weight;
    soft.requirements["disk.0.image.url"].equals = std::move(image);
    return soft;
  }

  TestFamily amazon{"ec2", "aws", false}, google{"gce", "gce", true};
  CloudSet clouds;
};

TEST_F(WhereANodeGoes, WithoutAWordOfItIsTheFallback) {
  EXPECT_EQ(clouds.id_for(ir::Node()), "local");
  EXPECT_EQ(clouds.id_for(node({"one://host/1"})), "local") << "a cloud that is not there";
  EXPECT_EQ(clouds.id_for(node({"debian-12", ""})), "local");
}

TEST_F(WhereANodeGoes, DeployThenOptionThenImageDecide) {
  ir::Node imaged = node({"AWS://eu-west-1/ami-1"});
  EXPECT_EQ(clouds.name_for(imaged), "ec2");
  EXPECT_EQ(clouds.id_for(imaged), (CloudId{"ec2", "", "r1"}.text()));
  clouds.asked = "local";
  EXPECT_EQ(clouds.name_for(imaged), "local");
  imaged.cloud = "gce";
  EXPECT_EQ(clouds.name_for(imaged), "gce");
}

TEST_F(WhereANodeGoes, OfImagesForSeveralCloudsTheFirstWithCredentialsDecides) {
  EXPECT_EQ(clouds.name_for(node({"aws://eu-west-1/ami-1", "gce://europe-west1/debian-12"})), "gce");
  EXPECT_EQ(clouds.name_for(node({"one://host/1", "aws://eu-west-1/ami-1"})), "ec2");
  TestFamily azure{"azure", "azr", false};
  clouds.add(azure);
  EXPECT_EQ(clouds.name_for(node({"azr://a/b/c/d", "aws://eu-west-1/ami-1"})), "azure") << "none has any";
}

TEST_F(WhereANodeGoes, OfSeveralAccountsTheOneThatHasTheImageDecides) {
  EXPECT_EQ(clouds.name_for(node({"gce://elsewhere/debian"})), "gce")
      << "none has it: the default one says so";
  clouds.add_account("another", google);
  clouds.add_account("other", google);
  EXPECT_EQ(clouds.name_for(node({"gce://here/debian"})), "gce");
  EXPECT_EQ(clouds.name_for(node({"gce://elsewhere/debian"})), "other");
}

TEST_F(WhereANodeGoes, ASoftImageDecidesWhereNothingElseDoes) {
  ir::Node wishes = node({});
  wishes.softs = {soft(9, {"one://host/1"}), soft(5, {"gce://r/debian", "aws://r/ami-1"}),
                  soft(1, "aws://r/ami-1")};
  EXPECT_EQ(clouds.name_for(wishes), "gce");
  wishes.softs[1].requirements["disk.0.image.url"].equals = "gce://r2/debian";
  EXPECT_EQ(clouds.id_for(wishes), (CloudId{"gce", "", "r2"}.text())) << "the image says its region, too";
  wishes.disks[0].image_urls = {"aws://r/ami-1"};
  EXPECT_EQ(clouds.name_for(wishes), "ec2");
}

TEST_F(WhereANodeGoes, AMistakenNameIsAnsweredWithTheOneThatIsMeant) {
  clouds.other_names = {
      {"aws", "ec2"}, {"amazon", "ec2"}, {"google", "gce"}, {"gcp", "gce"}, {"gcloud", "gce"}};
  for (const auto& [written, meant] : {std::pair("aws", "ec2"),
                                       {"Amazon", "ec2"},
                                       {"EC2", "ec2"},
                                       {"gcp", "gce"},
                                       {"gec", "gce"},
                                       {"nova", ""},
                                       {"zzzzzz", ""}})
    EXPECT_EQ(clouds.meant_by(written), meant) << written;
  EXPECT_NE(clouds.why_not("aws").hint().find("did you mean ec2?"), std::string::npos);
  EXPECT_FALSE(clouds.why_not("zzzzzz").hint().empty()) << "which clouds there are";
}

TEST_F(WhereANodeGoes, CredentialsAreListed) {
  EXPECT_EQ(clouds.with_credentials(), std::vector<std::string>{"gce"});
}

}  // namespace
}  // namespace radl
