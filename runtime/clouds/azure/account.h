// Examines Azure credentials: account, quotas of a region, and permitted actions. Read-only.
// Source: Azure REST API reference, Subscriptions (Get, List), Compute Usage (List), Permissions
// (List).
#pragma once

#include "common/azure/session.h"
#include "runtime/auth/cloud_account.h"

namespace radl {

CloudAccount look_at_azure(http::Client& http, const azure::Settings& settings, const Stop& stop);

// True if a role's pattern ("Microsoft.Compute/*/read", "*") covers an action. Ignores case.
bool covers(std::string_view pattern, std::string_view action);

}  // namespace radl
