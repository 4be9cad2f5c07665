// What credentials for OpenStack are good for: whose they are, which quotas hold, and which calls are
// allowed. Changes nothing.
#pragma once

#include <string>
#include <vector>

#include "common/openstack/session.h"

namespace radl {

struct OpenStackCall {
  std::string call;  // "compute GET /servers/detail"
  enum class Answer { Allowed, Missing, Unknown } answer = Answer::Unknown;
  std::string why;  // of Unknown
};

struct OpenStackQuota {
  std::string name;
  double limit = 0, used = 0;  // limit -1: there is none
};

struct OpenStackAccount {
  std::string origin, region;
  Status status;  // why there is no token
  std::string user, project, project_id;
  std::vector<std::string> roles, services;
  std::time_t expires = 0;
  std::vector<OpenStackQuota> quotas;
  std::vector<OpenStackCall> calls;
};

OpenStackAccount look_at_openstack(http::Client& http, const openstack::Settings& settings, const Stop& stop);

// Every call that is tried, as in `OpenStackCall::call`.
std::vector<std::string> openstack_calls_tried();

}  // namespace radl
