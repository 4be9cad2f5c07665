// AWS as a source of workload identity federation: proves an AWS identity to Google. Source:
// google.aip.dev/auth/4117, "Determining the subject token in AWS".
#pragma once

#include <string>

#include "common/google/credentials.h"
#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::google {

// Returns a subject token: a signed GetCallerIdentity request to AWS's STS, which Google sends in turn. Uses
// the keys and region that AWS's own tools use. Auth: they are missing or invalid.
Result<std::string> aws_subject_token(http::Client& http, const Credential& one, const Stop& stop);

}  // namespace radl::google
