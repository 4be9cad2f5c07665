// What Azure's errors mean: their kind, their reason, and what to do about them.
#include "common/azure/errors.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace radl::azure {
namespace {

using Json = nlohmann::json;

TEST(AzureErrors, SayWhatToDoAboutTheNamespaceAndTheGenerationThatTheyName) {
  const Said unregistered{"MissingSubscriptionRegistration",
                          "The subscription is not registered to use namespace 'Microsoft.Network'. See .."};
  EXPECT_EQ(cure_of(unregistered, 409),
            "Run `az provider register --namespace Microsoft.Network` once; it takes some minutes.");
  EXPECT_NE(cure_of({"MissingSubscriptionRegistration", ""}, 409).find("Microsoft.Compute"),
            std::string::npos);
  const Said generation{"BadRequest",
                        "The selected VM size 'Standard_A1_v2' cannot boot Hypervisor Generation '2'. .."};
  EXPECT_EQ(code_of(generation, 400), Code::Invalid);
  EXPECT_NE(cure_of(generation, 400).find("gen2"), std::string::npos);
}

TEST(AzureErrors, EachHasItsKindAndItsCure) {
  const std::tuple<const char*, int, Code, const char*> kCases[] = {
      {"SkuNotAvailable", 409, Code::Quota, "availability_zone"},
      {"AllocationFailed", 409, Code::Quota, "later"},
      {"ZonalAllocationFailed", 409, Code::Quota, "availability_zone"},
      {"OverconstrainedAllocationRequest", 409, Code::Quota, "placement_group"},
      {"QuotaExceeded", 409, Code::Quota, "az vm list-usage"},
      {"PublicIPCountLimitReached", 400, Code::Quota, "az quota"},
      {"AuthorizationFailed", 403, Code::Auth, "Permissions"},
      {"InvalidAuthenticationToken", 401, Code::Auth, "az login"},
      {"SubscriptionNotRegistered", 404, Code::Invalid, "az provider register"},
      {"MissingSubscriptionRegistration", 409, Code::Invalid, "az provider register"},
      {"ResourceGroupBeingDeleted", 409, Code::Retry, "destroy"},
      {"AnotherOperationInProgress", 429, Code::Retry, ""},
      {"RetryableError", 429, Code::Retry, ""},
      {"PrincipalNotFound", 400, Code::Retry, "minutes"},
      {"InUseSubnetCannotBeDeleted", 400, Code::Retry, ""},
      {"MarketplacePurchaseEligibilityFailed", 400, Code::Invalid, "terms accept"},
      {"ResourceNotFound", 404, Code::NotFound, ""},
      {"OperationNotFound", 404, Code::NotFound, ""},
      {"InvalidResourceType", 404, Code::Invalid, "version"},
      {"SomethingElse", 404, Code::Invalid, ""},
      {"SomethingNew", 400, Code::Invalid, ""}};
  for (const auto& [code, http_status, expected, cure] : kCases) {
    const Said said = error_in({{"error", {{"code", code}, {"message", "m"}}}});
    EXPECT_EQ(code_of(said, http_status), expected) << code;
    EXPECT_NE(status_of(said, http_status).hint().find(cure), std::string::npos) << code;
  }
  const Said quota{"OperationNotAllowed", "exceeding approved standardDSv3Family Cores quota"};
  EXPECT_EQ(code_of(quota, 409), Code::Quota);
  EXPECT_TRUE(status_of(quota, 409)
                  .hint()
                  .starts_with("The quota is 'standardDSv3Family Cores'. Run `az vm list-usage"))
      << status_of(quota, 409).hint();
  EXPECT_EQ(code_of({"OperationNotAllowed", "not now"}, 409), Code::Conflict);
  const Json inside = {{"error",
                        {{"code", "DeploymentFailed"},
                         {"message", "m"},
                         {"details", {{{"code", "QuotaExceeded"}, {"message", "n"}}}}}}};
  EXPECT_EQ(error_in(inside).code, "QuotaExceeded");
}

TEST(AzureErrors, TheReasonIsFoundHoweverDeepItIs) {
  const Json deep = Json::parse(R"({"status": "Failed", "error": {"code": "ResourceDeploymentFailure",
      "message": "The resource operation completed with terminal provisioning state 'Failed'.",
      "details": [{"code": "Conflict", "message": "outer", "details": [
        {"code": "ZonalAllocationFailed", "message": "no capacity in zone 1"}]}]}})");
  EXPECT_EQ(error_in(deep).code, "ZonalAllocationFailed");
  EXPECT_EQ(error_in(deep).message, "no capacity in zone 1");
  const Json inner = Json::parse(R"({"error": {"code": "Conflict", "message": "cannot now",
      "innererror": {"code": "AnotherOperationInProgress"}}})");
  EXPECT_EQ(error_in(inner).code, "AnotherOperationInProgress");
  EXPECT_EQ(error_in(inner).message, "cannot now");
  // Of what is known nowhere nothing is lost.
  const Json unknown = Json::parse(R"({"error": {"code": "ResourceOperationFailure", "message": "it failed.",
      "details": [{"code": "OSProvisioningTimedOut", "message": "did not finish in the allotted time"}]}})");
  EXPECT_EQ(error_in(unknown).code, "ResourceOperationFailure");
  EXPECT_EQ(error_in(unknown).message,
            "it failed. (OSProvisioningTimedOut: did not finish in the allotted time)");
  const Json stack = Json::parse(R"({"error": {"code": "BadRequest", "message": "no",
      "innererror": {"exceptiontype": "X", "errordetail": "y"}}})");
  EXPECT_EQ(error_in(stack).message, "no");
}

TEST(AzureErrors, ASizeThatTheRegionDoesNotHaveIsSoughtElsewhere) {
  for (const char* message :
       {"The value Standard_Z1 provided for the VM size is not valid. The valid sizes in the current region "
        "are: Standard_B1s.",
        "The requested VM size Standard_Z1 is not available in the current region."}) {
    EXPECT_EQ(code_of({"InvalidParameter", message}, 400), Code::Quota) << message;
    EXPECT_NE(cure_of({"InvalidParameter", message}, 400).find("region"), std::string::npos);
  }
  const Said disks{"OperationNotAllowed",
                   "The maximum number of data disks allowed to be attached to a VM of this size is 4."};
  EXPECT_EQ(code_of(disks, 409), Code::Quota);
  EXPECT_NE(cure_of(disks, 409).find("fewer disks"), std::string::npos);
  EXPECT_EQ(code_of({"InvalidParameter", "The value of parameter x is invalid."}, 400), Code::Invalid);
}

}  // namespace
}  // namespace radl::azure
