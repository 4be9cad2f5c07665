// Lines of type Azure of the Infrastructure Manager's auth file, as settings of Azure.
#pragma once

#include "common/azure/settings.h"
#include "runtime/auth/auth_file.h"

namespace radl {

// A service principal (client_id, secret, tenant), or a user's username and password (with client_id or az's
// own). `places`: location and addresses, which a line does not say. Auth: a value is missing, and why. Never
// with a value.
Result<azure::Settings> azure_settings(const AuthFile& file, const AuthLine& line, azure::Settings places);

}  // namespace radl
