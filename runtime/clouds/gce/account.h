// What credentials for Google Cloud are good for: whose they are, the project's and the region's quotas, and
// which permissions are there. Changes nothing.
// Source: Compute Engine API reference, projects.get and regions.get; Cloud Resource Manager API v1,
// projects.testIamPermissions.
#pragma once

#include "common/google/session.h"
#include "runtime/auth/cloud_account.h"

namespace radl {

CloudAccount look_at_google(http::Client& http, const google::Settings& settings, const Stop& stop);

}  // namespace radl
