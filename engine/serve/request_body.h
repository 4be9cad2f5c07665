// The images in the body of a request.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"

namespace radl::engine::serve {

// The files' bytes: the body itself, or, of a JSON object, what "image" or "images" hold as base64. Memory:
// the body, and at most three quarters of it again. Invalid says what is wrong; Quota: more than `most`
// images.
Result<std::vector<std::string>> images_in(std::string body, size_t most);

}  // namespace radl::engine::serve
