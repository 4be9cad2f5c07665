// Converts auth file lines of type GCE (Infrastructure Manager) to Google Cloud settings.
#pragma once

#include "common/google/settings.h"
#include "runtime/auth/auth_file.h"

namespace radl {

// `places`: region, zone and API address, which lines do not contain. Auth: a value is missing; explains why.
// Invalid: the key is neither JSON nor PEM. Errors never contain values.
Result<google::Settings> google_settings(const AuthFile& file, const AuthLine& line, google::Settings places);

}  // namespace radl
