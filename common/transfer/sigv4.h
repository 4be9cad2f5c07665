// AWS Signature Version 4 as a pure function.
// Source: AWS Identity and Access Management User Guide, "Create a signed AWS API request"; S3 API reference,
// "Authenticating Requests". Tested on their published examples.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "common/transfer/http.h"

namespace radl::transfer {

struct AwsCredentials {
  std::string access_key, secret_key, session_token;  // the token is "" for long-lived keys
};

struct SigningScope {
  std::string region = "us-east-1";
  std::string service = "s3";  // "s3" and "s3express": the path is encoded once and not normalised
  std::time_t time = 0;        // seconds since 1970, UTC
};

struct ToSign {
  std::string method;
  std::string host;            // as in the Host header, with a port that is not the scheme's own
  std::string path = "/";      // decoded
  Headers query;               // decoded names and values
  Headers headers;             // to be signed as well, besides host and x-amz-*
  std::string body_sha256;     // lower-case hex, or "UNSIGNED-PAYLOAD"
  bool send_body_hash = true;  // adds X-Amz-Content-Sha256 (S3 requires it)
};

// What to add to the request: Authorization, X-Amz-Date and, as needed, X-Amz-Security-Token and
// X-Amz-Content-Sha256.
Headers sign_v4(const ToSign& request, const AwsCredentials& credentials, const SigningScope& scope);

// "a=b&c=d", names sorted, encoded as the signature wants it: the query string to send.
std::string canonical_query(const Headers& query);

}  // namespace radl::transfer
