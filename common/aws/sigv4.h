// AWS Signature Version 4 as a pure function. Source: AWS Identity and Access Management User Guide, "Create
// a signed AWS API request"; S3 API reference, "Authenticating Requests". The tests use their published
// examples.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "common/aws/credentials.h"
#include "common/http/http.h"

namespace radl::aws {

struct SigningScope {
  std::string region = "us-east-1";
  std::string service = "s3";  // for "s3" and "s3express" the path is encoded once and not normalized
  std::time_t time = 0;        // seconds since 1970, UTC
};

struct ToSign {
  std::string method;
  std::string host;            // as in the Host header; includes a non-default port
  std::string path = "/";      // decoded
  http::Headers query;         // decoded names and values
  http::Headers headers;       // to sign besides host and x-amz-*
  std::string body_sha256;     // lower-case hex, or "UNSIGNED-PAYLOAD"
  bool send_body_hash = true;  // adds X-Amz-Content-Sha256 (S3 requires it)
};

// Returns the headers to add: Authorization, X-Amz-Date and, if needed, X-Amz-Security-Token and
// X-Amz-Content-Sha256.
http::Headers sign_v4(const ToSign& request, const Credentials& credentials, const SigningScope& scope);

// Returns the query of a URL presigned for `seconds` (at most 7 days): `request.query` plus the signature
// over the given headers (at least host). S3's body hash is then "UNSIGNED-PAYLOAD".
http::Headers presign_v4(const ToSign& request, const Credentials& credentials, const SigningScope& scope,
                         int seconds);

}  // namespace radl::aws
