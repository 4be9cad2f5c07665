// The conformance suite on Azure, against the server that RADL_AZURE_ENDPOINT leads to.
// tests/azure/suite_test.py starts it and this program.
#include "runtime/clouds/azure/azure_cloud.h"
#include "tests/unit/runtime/clouds/controlled_subject.h"

namespace radl::test {
namespace {

class AzureSubject : public ControlledSubject {
 public:
  AzureSubject() : ControlledSubject(azure::make_family(environment_of_process()), {"azure", "", "eastus"}) {}
  std::vector<std::string> own_tags() const override {
    return {"radlc-infrastructure", "radlc-address", "radlc-token"};
  }
  bool tamper(const Seen& seen) override {
    return (seen.type == "machine" || seen.type == "security_group") &&
           control("tamper/" + seen.id) == Json(true);
  }
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Azure, CloudSuite,
                         testing::Values(CloudCase{"debian",
                                                   [] { return std::make_unique<AzureSubject>(); }}),
                         case_name);

}  // namespace radl::test

int main(int argc, char** argv) {
  return radl::test::run_with_server(argc, argv, "RADL_TEST_CONTROL", "tests/azure/run suite_test");
}
