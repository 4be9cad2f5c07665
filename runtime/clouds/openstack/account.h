// Examines OpenStack credentials: account, quotas, and permitted calls.
// Read-only.
#pragma once

#include "common/openstack/session.h"
#include "runtime/auth/cloud_account.h"

namespace radl {

CloudAccount look_at_openstack(http::Client& http, const openstack::Settings& settings, const Stop& stop);

}  // namespace radl
