// The conformance suite on EC2, against a server that speaks its API: the one that AWS_ENDPOINT_URL names.
// tests/aws/suite_test.py starts it and this program.
#include <cstdlib>

#include "runtime/clouds/ec2/ec2_cloud.h"
#include "tests/unit/runtime/clouds/cloud_suite_cases.h"

namespace radl::test {
namespace {

constexpr const char* kImage = "aws://us-east-1/ami-0deb12000000000a2";

class Ec2Subject : public CloudSubject {
 public:
  Ec2Subject() : family_(ec2::make_family()) {
    auto made = family_->make({"ec2", "", "us-east-1"});
    EXPECT_TRUE(made.ok()) << made.status().text();
    cloud_ = std::move(*made);
  }
  Cloud& cloud() override { return *cloud_; }
  Clock& clock() override { return real_world().clock; }
  ir::Program program() const override { return with_images(CloudSubject::program()); }
  ir::Program changed_program() const override {
    ir::Program program = this->program();
    program.nodes.front().requirements["instance_tags"].equals = "project=x";
    return program;
  }
  ir::Program impossible_program() const override {
    ir::Program program = this->program();
    program.nodes.front().requirements["memory.size"].min = 1e15;
    return program;
  }
  std::string impossible_feature() const override { return "memory.size"; }
  bool tells_host_keys() const override { return false; }
  ir::Program many_machines() const override { return with_images(CloudSubject::many_machines()); }

 private:
  static ir::Program with_images(ir::Program program) {
    for (ir::Node& node : program.nodes) {
      ir::Disk disk;
      disk.image_urls = {kImage};
      node.disks.push_back(disk);
    }
    return program;
  }

  std::unique_ptr<CloudFamily> family_;
  std::unique_ptr<Cloud> cloud_;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Ec2, CloudSuite,
                         testing::Values(CloudCase{"moto", [] { return std::make_unique<Ec2Subject>(); }}),
                         case_name);

}  // namespace radl::test

// Without a server there is nothing to try: 77 is "skipped" for ctest.
int main(int argc, char** argv) {
  if (!std::getenv("AWS_ENDPOINT_URL")) {
    std::puts("skipped: AWS_ENDPOINT_URL names no server (tests/aws/run suite_test starts one)");
    return 77;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
