// Lines of type GCE of the Infrastructure Manager's auth file, as settings of Google Cloud.
#pragma once

#include "common/google/settings.h"
#include "runtime/auth/auth_file.h"

namespace radl {

// `places`: region, zone and address of the API, which a line does not say. Auth: a value is missing, and
// why; Invalid: the key is neither JSON nor PEM. Never with a value.
Result<google::Settings> google_settings(const AuthFile& file, const AuthLine& line, google::Settings places);

}  // namespace radl
