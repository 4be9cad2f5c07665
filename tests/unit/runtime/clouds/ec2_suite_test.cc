// The conformance suite on EC2, against a server that speaks its API: the one that AWS_ENDPOINT_URL names.
// tests/aws/suite_test.py starts it and this program.
#include "runtime/clouds/ec2/ec2_cloud.h"
#include "tests/unit/runtime/clouds/controlled_subject.h"

namespace radl::test {
namespace {

constexpr const char* kImage = "aws://us-east-1/ami-0deb12000000000a2";

class Ec2Subject : public ControlledSubject {
 public:
  Ec2Subject() : ControlledSubject(ec2::make_family(environment_of_process()), {"ec2", "", "us-east-1"}) {}
  ir::Program program() const override { return with_images(CloudSubject::program()); }
  int more_than_a_page() const override { return 3; }
  std::vector<std::string> own_tags() const override {
    return {"radlc:infrastructure", "radlc:address", "radlc:token"};
  }
  bool tamper(const Seen& seen) override {
    return seen.type == "security_group" && control("tamper/" + seen.id) == Json(true);
  }
  // What EC2 cannot make it ends at once; moto always can.
  bool breaks(bool) override { return false; }
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
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Ec2, CloudSuite,
                         testing::Values(CloudCase{"moto", [] { return std::make_unique<Ec2Subject>(); }}),
                         case_name);

}  // namespace radl::test

int main(int argc, char** argv) {
  return radl::test::run_with_server(argc, argv, "AWS_ENDPOINT_URL", "tests/aws/run suite_test");
}
