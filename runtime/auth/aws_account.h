// What an AWS account's credentials are good for: whose they are, which quotas hold, and which of radlc's
// calls they may make. Nothing is changed: permissions are asked for with DryRun, and of things that do not
// exist.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/aws/credentials.h"
#include "common/aws/services.h"
#include "common/aws/settings.h"
#include "common/http/http.h"

namespace radl {

struct AwsQuota {
  std::string name;  // "Running On-Demand Standard instances (vCPUs)"
  double value = 0;
};

struct AwsPermission {
  enum class Answer { Allowed, Missing, Unknown };
  std::string action;  // "ec2:RunInstances"
  Answer answer = Answer::Unknown;
  std::string why;  // of Unknown
};

struct AwsAccount {
  std::string origin;  // where the credentials are from: "environment"
  std::string region;
  std::optional<std::time_t> expires;
  Status identity_status;  // why there is no identity; nothing else was asked then
  aws::Identity identity;
  std::vector<AwsQuota> quotas;
  std::string quotas_from;  // "Service Quotas", "account attributes"
  Status quotas_status;     // why there are none
  std::vector<AwsPermission> permissions;
};

struct AwsAsking {
  http::Client& http;
  const aws::Configuration& configuration;
  std::shared_ptr<aws::CredentialSource> credentials;
  std::string region;
  Stop stop;
};

AwsAccount look_at_account(const AwsAsking& asking);

// Every call of EC2 that radlc makes: "ec2:DescribeInstances", sorted.
std::vector<std::string> aws_actions();

}  // namespace radl
