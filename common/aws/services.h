// The services that are asked in several places, ready made: STS and the region's endpoint.
#pragma once

#include <string>

#include "common/aws/query.h"
#include "common/aws/settings.h"

namespace radl::aws {

// Service "ec2", "sts", "iam" as configured: endpoint, version of the API, certificates, attempts. IAM has
// one endpoint for all regions of a partition.
Result<QueryService> query_service(const Configuration& configuration, const std::string& name,
                                   const std::string& region);

struct Identity {
  std::string account, arn, user_id;
};
// STS GetCallerIdentity, which needs no permission.
Result<Identity> caller_identity(QueryClient& sts, const Stop& stop);

}  // namespace radl::aws
