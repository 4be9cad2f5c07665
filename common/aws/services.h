// Shared setup of AWS services: STS and the endpoint of a region.
#pragma once

#include <string>

#include "common/aws/query.h"
#include "common/aws/settings.h"

namespace radl::aws {

// Returns the configuration of service "ec2", "sts" or "iam": endpoint, API version, certificates, attempts.
// IAM has one endpoint for all regions of a partition.
Result<QueryService> query_service(const Configuration& configuration, const std::string& name,
                                   const std::string& region);

struct Identity {
  std::string account, arn, user_id;
};
// Calls STS GetCallerIdentity, which needs no permission.
Result<Identity> caller_identity(QueryClient& sts, const Stop& stop);

}  // namespace radl::aws
