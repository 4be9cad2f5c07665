// What credentials for AWS are good for: whose they are, which quotas hold, and which of radlc's calls they
// may make. Changes nothing: permissions are asked for with DryRun, and of things that do not exist.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/aws/credentials.h"
#include "common/aws/services.h"
#include "common/aws/settings.h"
#include "common/http/http.h"
#include "runtime/auth/cloud_account.h"

namespace radl::ec2 {

struct AccountQuestion {
  http::Client& http;
  const aws::Configuration& configuration;
  std::shared_ptr<aws::CredentialSource> credentials;
  std::string region;
  Stop stop;
};

CloudAccount look_at_account(const AccountQuestion& question);

// Every call of EC2 that radlc makes: "ec2:DescribeInstances", sorted.
std::vector<std::string> account_actions();

}  // namespace radl::ec2
