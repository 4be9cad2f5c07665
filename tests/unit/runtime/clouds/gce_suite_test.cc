// The conformance suite on Google Compute Engine, against the server that
// CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE leads to. tests/gce/suite_test.py starts it and this program.
#include "runtime/clouds/gce/gce_cloud.h"
#include "tests/unit/runtime/clouds/controlled_subject.h"

namespace radl::test {
namespace {

class GceSubject : public ControlledSubject {
 public:
  GceSubject() : ControlledSubject(gce::make_family(environment_of_process()), {"gce", "", "europe-west1"}) {}
  bool tamper(const Seen& seen) override {
    return (seen.type == "instance" || seen.type == "firewall") && control("tamper/" + seen.id) == Json(true);
  }
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Gce, CloudSuite,
                         testing::Values(CloudCase{"debian", [] { return std::make_unique<GceSubject>(); }}),
                         case_name);

}  // namespace radl::test

int main(int argc, char** argv) {
  return radl::test::run_with_server(argc, argv, "RADL_TEST_CONTROL", "tests/gce/run suite_test");
}
