#include "common/aws/services.h"

namespace radl::aws {
namespace {

struct Api {
  const char *name, *version;
};
constexpr Api kApis[] = {{"ec2", "2016-11-15"}, {"sts", "2011-06-15"}, {"iam", "2010-05-08"}};

}  // namespace

Result<QueryService> query_service(const Configuration& configuration, const std::string& name,
                                   const std::string& region) {
  if (!is_region_name(region)) return invalid("\"" + region + "\" is not an AWS region");
  QueryService service;
  for (const Api& api : kApis) {
    if (name == api.name) service.version = api.version;
  }
  if (service.version.empty()) return internal_error("aws: no Query API called " + name);
  auto endpoint = endpoint_of(configuration, name, region);
  if (!endpoint.ok()) return endpoint.status();
  auto attempts = configuration.max_attempts();
  if (!attempts.ok()) return attempts.status();
  service.name = name;
  service.region = name == "iam" && domain_of_region(region) == "amazonaws.com" ? "us-east-1" : region;
  service.endpoint = *endpoint;
  service.ca_file = configuration.ca_bundle();
  if (*attempts > 0) service.attempts = *attempts;
  return service;
}

Result<Identity> caller_identity(QueryClient& sts, const Stop& stop) {
  Answer answer = sts.call("GetCallerIdentity", {}, {.effect = Effect::Reads, .stop = stop});
  if (!answer.ok()) return answer.failure().status;
  Identity who{answer.field("Account"), answer.field("Arn"), answer.field("UserId")};
  if (who.account.empty() || who.arn.empty())
    return Status(Code::Corrupt, "STS GetCallerIdentity: the response names no account");
  return who;
}

}  // namespace radl::aws
