// The conformance suite on Google Compute Engine, against the server that
// CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE leads to. tests/gce/suite_test.py starts it and this program; what
// a test does behind the cloud's back it asks for at RADL_TEST_CONTROL.
#include <cstdlib>

#include "common/http/http.h"
#include "runtime/clouds/gce/gce_cloud.h"
#include "tests/unit/runtime/clouds/cloud_suite_cases.h"

namespace radl::test {
namespace {

class GceSubject : public CloudSubject {
 public:
  GceSubject() : family_(gce::make_family()) {
    auto made = family_->make({"gce", "", "europe-west1"});
    EXPECT_TRUE(made.ok()) << made.status().text();
    cloud_ = std::move(*made);
  }
  Cloud& cloud() override { return *cloud_; }
  Clock& clock() override { return real_world().clock; }
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
  int more_than_a_page() const override { return 5; }

  bool tamper(const Seen& seen) override {
    return (seen.type == "instance" || seen.type == "firewall") && control("tamper/" + seen.id) == Json(true);
  }
  bool stop(const Seen& seen) override { return control("stop/" + seen.id) == Json(true); }
  bool breaks(bool yes) override { return control(yes ? "breaks/yes" : "breaks/no") == Json(true); }
  bool exhaust(bool yes) override { return control(yes ? "exhaust/yes" : "exhaust/no") == Json(true); }
  Json of_others() override { return control("others"); }

 private:
  Json control(const std::string& what) {
    http::Request request;
    request.url = std::string(std::getenv("RADL_TEST_CONTROL")) + "/" + what;
    auto answer = http_.send(request);
    EXPECT_TRUE(answer.ok() && answer->ok()) << what;
    return answer.ok() ? Json::parse(answer->body, nullptr, false) : Json();
  }

  http::Client http_;
  std::unique_ptr<CloudFamily> family_;
  std::unique_ptr<Cloud> cloud_;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Gce, CloudSuite,
                         testing::Values(CloudCase{"debian", [] { return std::make_unique<GceSubject>(); }}),
                         case_name);

}  // namespace radl::test

// Without a server there is nothing to try: 77 is "skipped" for ctest.
int main(int argc, char** argv) {
  if (!std::getenv("RADL_TEST_CONTROL")) {
    std::puts("skipped: RADL_TEST_CONTROL names no server (tests/gce/run suite_test starts one)");
    return 77;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
