// What credentials for OpenStack are good for: whose they are, which quotas hold, and which calls are
// allowed. Changes nothing.
#pragma once

#include "common/openstack/session.h"
#include "runtime/auth/cloud_account.h"

namespace radl {

CloudAccount look_at_openstack(http::Client& http, const openstack::Settings& settings, const Stop& stop);

}  // namespace radl
