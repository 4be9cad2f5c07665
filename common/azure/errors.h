// Classifies error codes of Azure Resource Manager and its services, and gives a one-line remedy. Source:
// Azure documentation, "Troubleshoot common Azure deployment errors", "Understanding common error messages
// when you manage virtual machines", "Throttling Resource Manager requests"; the services' REST API
// references.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/status.h"

namespace radl::azure {

// Parsed from {"error": {"code", "message", "details": [..]}} or plain {"code", "message"}. The most specific
// entry of code and details, as one line; "" if there is none.
struct Said {
  std::string code, message;
};
Said error_in(const nlohmann::json& document);

// Quota (another machine type or zone may work), Auth, NotFound, Exists, Conflict, Retry or Invalid.
Code code_of(const Said& said, int http_status);
// The remedy; "" if Azure's message is all that is known.
std::string cure_of(const Said& said, int http_status);
// "SkuNotAvailable: ..", with the remedy as its hint.
Status status_of(const Said& said, int http_status);

}  // namespace radl::azure
