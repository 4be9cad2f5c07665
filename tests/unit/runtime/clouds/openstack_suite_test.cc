// The conformance suite on OpenStack, against the services that OS_AUTH_URL leads to.
// tests/openstack/suite_test.py starts them and this program; what a test does behind the cloud's back it
// asks for at RADL_TEST_CONTROL.
#include <cstdlib>

#include "common/http/http.h"
#include "runtime/clouds/openstack/openstack_cloud.h"
#include "tests/unit/runtime/clouds/cloud_suite_cases.h"

namespace radl::test {
namespace {

class OpenStackSubject : public CloudSubject {
 public:
  OpenStackSubject() : family_(openstack::make_family()) {
    const char* region = std::getenv("OS_REGION_NAME");
    auto made = family_->make({"openstack", "", region ? region : ""});
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
  // Which flavors there are nobody knows offline; that nothing is spot is known.
  ir::Program impossible_program() const override {
    ir::Program program = this->program();
    program.nodes.front().requirements["spot"].equals = "yes";
    return program;
  }
  std::string impossible_feature() const override { return "spot"; }
  bool tells_host_keys() const override { return false; }
  int more_than_a_page() const override { return 5; }
  ir::Program many_machines() const override { return with_images(CloudSubject::many_machines()); }

  bool tamper(const Seen& seen) override {
    if (seen.type != "server" && seen.type != "security_group") return false;
    return control("tamper/" + seen.type + "/" + seen.id) == Json(true);
  }
  bool stop(const Seen& seen) override { return control("stop/" + seen.id) == Json(true); }
  bool breaks(bool yes) override { return control(yes ? "breaks/yes" : "breaks/no") == Json(true); }
  bool exhaust(bool yes) override { return control(yes ? "exhaust/yes" : "exhaust/no") == Json(true); }
  Json of_others() override { return control("others"); }

 private:
  static ir::Program with_images(ir::Program program) {
    for (ir::Node& node : program.nodes) {
      ir::Disk disk;
      disk.image_urls = {"ost://127.0.0.1/debian-12"};
      node.disks.push_back(disk);
    }
    return program;
  }

  Json control(const std::string& what) {
    http::Request request;
    request.url = std::string(std::getenv("RADL_TEST_CONTROL")) + "/" + what;
    request.stall_seconds = 120;
    auto answer = http_.send(request);
    EXPECT_TRUE(answer.ok() && answer->ok()) << what;
    return answer.ok() ? Json::parse(answer->body, nullptr, false) : Json();
  }

  http::Client http_;
  std::unique_ptr<CloudFamily> family_;
  std::unique_ptr<Cloud> cloud_;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(OpenStack, CloudSuite,
                         testing::Values(CloudCase{"debian",
                                                   [] { return std::make_unique<OpenStackSubject>(); }}),
                         case_name);

}  // namespace radl::test

// Without services there is nothing to try: 77 is "skipped" for ctest.
int main(int argc, char** argv) {
  if (!std::getenv("RADL_TEST_CONTROL")) {
    std::puts(
        "skipped: RADL_TEST_CONTROL names no server (tests/openstack/run suite_test starts the services)");
    return 77;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
