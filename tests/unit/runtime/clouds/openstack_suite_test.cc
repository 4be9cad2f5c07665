// The conformance suite on OpenStack, against the services at OS_AUTH_URL.
// tests/openstack/suite_test.py starts them and this program; tests request changes outside radlc
// through RADL_TEST_CONTROL.
#include "runtime/clouds/openstack/openstack_cloud.h"
#include "tests/unit/runtime/clouds/controlled_subject.h"

namespace radl::test {
namespace {

class OpenStackSubject : public ControlledSubject {
 public:
  OpenStackSubject()
      : ControlledSubject(openstack::make_family(environment_of_process()), {"openstack", "", region()}) {}
  ir::Program program() const override { return with_images(CloudSubject::program()); }
  // Which flavors there are nobody knows offline; that nothing is spot is known.
  ir::Program impossible_program() const override {
    ir::Program program = this->program();
    program.nodes.front().requirements["spot"].equals = "yes";
    return program;
  }
  std::string impossible_feature() const override { return "spot"; }
  ir::Program many_machines() const override { return with_images(CloudSubject::many_machines()); }

  std::vector<std::string> own_tags() const override {
    return {"radlc:infrastructure", "radlc:address", "radlc:token"};
  }
  bool tamper(const Seen& seen) override {
    if (seen.type != "server" && seen.type != "security_group") return false;
    return control("tamper/" + seen.type + "/" + seen.id) == Json(true);
  }

 private:
  static std::string region() {
    const char* region = std::getenv("OS_REGION_NAME");
    return region ? region : "";
  }
  static ir::Program with_images(ir::Program program) {
    for (ir::Node& node : program.nodes) {
      ir::Disk disk;
      disk.image_urls = {"ost://127.0.0.1/debian-12"};
      node.disks.push_back(disk);
    }
    return program;
  }
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(OpenStack, CloudSuite,
                         testing::Values(CloudCase{"debian",
                                                   [] { return std::make_unique<OpenStackSubject>(); }}),
                         case_name);

}  // namespace radl::test

int main(int argc, char** argv) {
  return radl::test::run_with_server(argc, argv, "RADL_TEST_CONTROL", "tests/openstack/run suite_test");
}
