// The EC2 quotas of an account in a region, from Service Quotas
// (https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_ListServiceQuotas.html).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/aws/credentials.h"
#include "common/aws/settings.h"
#include "common/http/http.h"

namespace radl::aws {

struct QuotasAsking {
  http::Client& http;
  const Configuration& configuration;
  std::shared_ptr<CredentialSource> credentials;
  std::string region;
  Stop stop;
};

// Quotas by code: "L-1216C47A" -> 32 (vCPUs). Auth: the credentials lack the permission. NotFound: the
// service lists no quota.
Result<std::map<std::string, double>> ec2_quotas(const QuotasAsking& asking);

}  // namespace radl::aws
