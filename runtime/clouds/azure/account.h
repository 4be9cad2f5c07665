// What credentials for Azure are good for: whose they are, a region's quotas, and which actions are allowed.
// Changes nothing.
// Source: Azure REST API reference, Subscriptions (Get, List), Compute Usage (List), Permissions (List).
#pragma once

#include "common/azure/session.h"
#include "runtime/auth/cloud_account.h"

namespace radl {

CloudAccount look_at_azure(http::Client& http, const azure::Settings& settings, const Stop& stop);

// Whether a role's pattern ("Microsoft.Compute/*/read", "*") covers an action; letters count alike.
bool covers(std::string_view pattern, std::string_view action);

}  // namespace radl
