// Error codes of Azure's Resource Manager and what stands behind it: what kind of failure each is, and what
// to do about it, in a line. Source: Azure documentation, "Troubleshoot common Azure deployment errors",
// "Understanding common error messages when you manage virtual machines", "Throttling Resource Manager
// requests"; the services' REST API references.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/status.h"

namespace radl::azure {

// Of {"error": {"code", "message", "details": [..]}}, or of {"code", "message"} alone; the most telling one
// of code and details. One line; "" where there is none.
struct Said {
  std::string code, message;
};
Said error_in(const nlohmann::json& document);

// Quota where another machine type or zone may do, Auth, NotFound, Exists, Conflict, Retry, Invalid.
Code code_of(const Said& said, int http_status);
// What to do; "" where nothing is known beyond what Azure says.
std::string cure_of(const Said& said, int http_status);
// "SkuNotAvailable: ..", with its cure as the hint.
Status status_of(const Said& said, int http_status);

}  // namespace radl::azure
