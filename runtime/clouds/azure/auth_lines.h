// Converts auth file lines of type Azure (Infrastructure Manager) to Azure settings.
#pragma once

#include "common/azure/settings.h"
#include "runtime/auth/auth_file.h"

namespace radl {

// A service principal (client_id, secret, tenant), or a user's username and password (with client_id or az's
// own). `places`: location and addresses, which lines do not contain. Auth: a value is missing; explains why.
// Errors never contain values.
Result<azure::Settings> azure_settings(const AuthFile& file, const AuthLine& line, azure::Settings places);

}  // namespace radl
