// AWS Signature Version 4 as a pure function.
// Source: AWS Identity and Access Management User Guide, "Create a signed AWS API request"; S3 API reference,
// "Authenticating Requests". Tested on their published examples.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "common/aws/credentials.h"
#include "common/http/http.h"

namespace radl::aws {

struct SigningScope {
  std::string region = "us-east-1";
  std::string service = "s3";  // "s3" and "s3express": the path is encoded once and not normalised
  std::time_t time = 0;        // seconds since 1970, UTC
};

struct ToSign {
  std::string method;
  std::string host;            // as in the Host header, with a port that is not the scheme's own
  std::string path = "/";      // decoded
  http::Headers query;         // decoded names and values
  http::Headers headers;       // to be signed as well, besides host and x-amz-*
  std::string body_sha256;     // lower-case hex, or "UNSIGNED-PAYLOAD"
  bool send_body_hash = true;  // adds X-Amz-Content-Sha256 (S3 requires it)
};

// What to add to the request: Authorization, X-Amz-Date and, as needed, X-Amz-Security-Token and
// X-Amz-Content-Sha256.
http::Headers sign_v4(const ToSign& request, const Credentials& credentials, const SigningScope& scope);

// The query that presigns a URL for `seconds` (at most 7 days): `request.query` and the
// signature, over the headers given (host at least). S3's body hash is "UNSIGNED-PAYLOAD" there.
http::Headers presign_v4(const ToSign& request, const Credentials& credentials, const SigningScope& scope,
                         int seconds);

}  // namespace radl::aws
