// AWS as a source of workload identity federation: who somebody is for AWS, shown to Google.
// Source: google.aip.dev/auth/4117, "Determining the subject token in AWS".
#pragma once

#include <string>

#include "common/google/credentials.h"
#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::google {

// A signed request to AWS's STS (GetCallerIdentity) that Google makes in its turn, as a subject token. Keys
// and region are those that AWS's own tools take. Auth: there are none, or what is wrong with them.
Result<std::string> aws_subject_token(http::Client& http, const Credential& one, const Stop& stop);

}  // namespace radl::google
