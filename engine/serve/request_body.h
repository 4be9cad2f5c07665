// Extracts the images from a request's body.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"

namespace radl::engine::serve {

// Returns the files' bytes: the body itself or, for a JSON object, the base64 data in "image" or "images".
// Uses the body's memory and at most three quarters of it in addition. Invalid explains the error. Quota:
// more than `most` images.
Result<std::vector<std::string>> images_in(std::string body, size_t most);

}  // namespace radl::engine::serve
