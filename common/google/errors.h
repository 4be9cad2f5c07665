// Errors of Compute Engine: what kind of failure each is, and what to do about it, in a line.
// Source: Compute Engine documentation, "Troubleshooting VM creation", "API errors"; Google API design guide,
// errors.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/status.h"

namespace radl::google {

// Of {"error": {"code", "message", "errors": [{"reason", "message"}]}} or an operation's {"error": {"errors":
// [{"code", "message"}]}}; one line, "" when there is none. `quota`: which one is used up, and of what:
// "NVIDIA_T4_GPUS (region us-central1)".
struct Said {
  std::string reason, message, quota;
};
Said error_in(const nlohmann::json& document);

// By the reason ("quotaExceeded", of an operation "ZONE_RESOURCE_POOL_EXHAUSTED"), words of the message where
// one reason stands for several failures, and the HTTP status: Quota where another zone or machine type may
// do, Auth, NotFound, Exists, Retry, Invalid.
Code code_of(const Said& said, int http_status);
// What to do about it; "": that is not known.
std::string cure_of(const Said& said, Code code);

}  // namespace radl::google
