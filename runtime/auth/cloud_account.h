// What the credentials for a cloud are good for, as `radlc check-auth` shows it. Looking changes nothing.
#pragma once

#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/status.h"

namespace radl {

struct CloudPermission {
  std::string name;  // "compute GET /servers/detail", "compute.instances.create"
  enum class Answer { Allowed, Missing, Unknown } answer = Answer::Unknown;
  std::string why;  // of Unknown
};

struct CloudQuota {
  std::string name;
  double limit = 0;  // -1: there is none
  std::optional<double> used;
};

struct CloudAccount {
  std::string cloud;           // "openstack"
  std::string origin, region;  // where the credential is from; where quotas are of
  Status status;               // why it cannot be looked at: the rest is empty then
  // Whose it is, in the cloud's words: "project" -> a string or a list of strings.
  std::vector<std::pair<std::string, nlohmann::json>> facts;
  std::time_t expires = 0;  // 0: not known, or never
  std::vector<CloudQuota> quotas;
  Status quotas_status;  // why there are none
  std::vector<CloudPermission> permissions;
  std::string permissions_note;  // what the permissions do not cover
};

}  // namespace radl
