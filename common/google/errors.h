// Classifies errors of Compute Engine and gives a one-line remedy. Source: Compute Engine
// documentation, "Troubleshooting VM creation", "API errors"; Google API design guide,
// errors.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/status.h"

namespace radl::google {

// Parsed from {"error": {"code", "message", "errors": [{"reason", "message"}]}} or an operation's {"error":
// {"errors": [{"code", "message"}]}}. Single lines; "" if missing. `quota`: the exhausted quota and its
// scope: "NVIDIA_T4_GPUS (region us-central1)".
struct Said {
  std::string reason, message, quota;
};
Said error_in(const nlohmann::json& document);

// Decides by the reason ("quotaExceeded", for an operation "ZONE_RESOURCE_POOL_EXHAUSTED"), by words of the
// message if one reason covers several failures, and by the HTTP status. Quota (another zone or machine type
// may work), Auth, NotFound, Exists, Retry or Invalid.
Code code_of(const Said& said, int http_status);
// The remedy; "" if none is known.
std::string cure_of(const Said& said, Code code);

}  // namespace radl::google
