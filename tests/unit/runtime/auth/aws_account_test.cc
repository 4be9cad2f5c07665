// What is said of an account, by servers that answer as AWS does and as none should.
#include "runtime/clouds/ec2/account.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/scripted_server.h"
#include "tests/unit/common/aws/aws_files.h"

namespace radl {
namespace {

using test::header_of;
using test::http_answer;
using test::ScriptedServer;
using Answer = CloudPermission::Answer;

std::string refusal(const std::string& code) {
  return http_answer(400, "",
                     "<Response><Errors><Error><Code>" + code + "</Code></Error></Errors></Response>");
}
std::string action_of(const std::string& request) {
  const size_t at = request.find("Action=");
  return at == request.npos ? "" : request.substr(at + 7, request.find('&', at) - at - 7);
}
const std::string kIdentity = http_answer(
    200, "",
    "<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::1:user/u</Arn><Account>1</Account>"
    "</GetCallerIdentityResult></GetCallerIdentityResponse>");

struct Asked {
  CloudAccount account;
  std::vector<std::string> actions;
};

Asked look(ScriptedServer::Answer answer) {
  test::AwsFiles files;
  ScriptedServer server(std::move(answer));
  files.variables["AWS_ENDPOINT_URL"] = server.url("");
  files.variables["AWS_MAX_ATTEMPTS"] = "1";
  http::Client http{environment_of_process()};
  auto configuration = *files.load();
  Asked asked{ec2::look_at_account({http, *configuration, aws::fixed_credentials({"A", "s", "", {}, "test"}),
                                    "eu-west-1", Stop()}),
              {}};
  for (const auto& request : server.requests()) asked.actions.push_back(action_of(request));
  return asked;
}

Answer answer_for(const CloudAccount& account, const std::string& action) {
  for (const auto& permission : account.permissions)
    if (permission.name == action) return permission.answer;
  ADD_FAILURE() << action << " was not asked for";
  return Answer::Unknown;
}

std::string fact(const CloudAccount& account, const std::string& name) {
  for (const auto& [key, value] : account.facts)
    if (key == name) return value.get<std::string>();
  return "";
}

TEST(AwsAccount, EachCallIsAllowedMissingOrUnknown) {
  auto [account, actions] = look([](const std::string& request) {
    const std::string action = action_of(request);
    if (action == "GetCallerIdentity") return kIdentity;
    if (action == "RunInstances") return refusal("UnauthorizedOperation");
    if (action == "TerminateInstances") return refusal("InvalidInstanceID.NotFound");
    if (action == "ImportKeyPair") return refusal("SomethingElse");
    return refusal("DryRunOperation");
  });
  EXPECT_EQ(fact(account, "arn"), "arn:aws:iam::1:user/u");
  EXPECT_EQ(answer_for(account, "ec2:RunInstances"), Answer::Missing);
  EXPECT_EQ(answer_for(account, "ec2:TerminateInstances"), Answer::Allowed);
  EXPECT_EQ(answer_for(account, "ec2:DescribeInstances"), Answer::Allowed);
  EXPECT_EQ(answer_for(account, "ec2:ImportKeyPair"), Answer::Unknown);
  EXPECT_EQ(account.permissions.size(), ec2::account_actions().size());
}

// Some servers of EC2's API do not know DryRun and would do what is asked.
TEST(AwsAccount, WhereDryRunIsNotKnownNothingThatChangesIsAskedFor) {
  auto [account, actions] = look([](const std::string& request) {
    const std::string action = action_of(request);
    return action == "GetCallerIdentity"
               ? kIdentity
               : http_answer(200, "", "<" + action + "Response></" + action + "Response>");
  });
  for (const std::string& action : actions)
    EXPECT_TRUE(action.empty() || action.starts_with("Describe") || action.starts_with("Get")) << action;
  EXPECT_EQ(answer_for(account, "ec2:RunInstances"), Answer::Unknown);
  EXPECT_EQ(answer_for(account, "ec2:DescribeInstances"), Answer::Allowed);
}

TEST(AwsAccount, QuotasAreThoseOfServiceQuotas) {
  auto [account, actions] = look([](const std::string& request) {
    if (header_of(request, "X-Amz-Target") == "ServiceQuotasV20190624.ListServiceQuotas") {
      if (request.find("\"NextToken\"") == request.npos)
        return http_answer(200, "",
                           R"({"Quotas":[{"QuotaCode":"L-1216C47A","Value":64.0}],"NextToken":"n"})");
      return http_answer(
          200, "", R"({"Quotas":[{"QuotaCode":"L-0263D0A3","Value":5},{"QuotaCode":"L-X","Value":1}]})");
    }
    return action_of(request) == "GetCallerIdentity" ? kIdentity : refusal("DryRunOperation");
  });
  ASSERT_EQ(account.quotas.size(), 2u);
  EXPECT_EQ(account.quotas[0].limit, 64);
  EXPECT_EQ(fact(account, "quotas_from"), "Service Quotas");
}

TEST(AwsAccount, QuotasThatCannotBeFoundOutSayWhy) {
  auto [account, actions] = look([](const std::string& request) {
    if (!header_of(request, "X-Amz-Target").empty())
      return http_answer(400, "", R"({"__type":"AccessDeniedException","Message":"no"})");
    if (action_of(request) == "DescribeAccountAttributes") return refusal("UnauthorizedOperation");
    return action_of(request) == "GetCallerIdentity" ? kIdentity : refusal("DryRunOperation");
  });
  EXPECT_TRUE(account.quotas.empty());
  EXPECT_NE(account.quotas_status.message().find("AccessDeniedException"), std::string::npos);
}

TEST(AwsAccount, KeysThatAreRefusedEndIt) {
  auto [account, actions] = look([](const std::string&) { return refusal("InvalidClientTokenId"); });
  EXPECT_EQ(account.status.code(), Code::Auth);
  EXPECT_EQ(actions, (std::vector<std::string>{"GetCallerIdentity"}));
}

}  // namespace
}  // namespace radl
