// Examines Google Cloud credentials: account, quotas of project and region,
// and permissions. Read-only. Source: Compute Engine API reference,
// projects.get and regions.get; Cloud Resource Manager API v1,
// projects.testIamPermissions.
#pragma once

#include "common/google/session.h"
#include "runtime/auth/cloud_account.h"

namespace radl {

CloudAccount look_at_google(http::Client& http, const google::Settings& settings, const Stop& stop);

}  // namespace radl
