// Parses headers of Infrastructure Manager clients
// (imdocs.readthedocs.io/en/latest/REST.html).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "runtime/auth/auth_file.h"

namespace radl::serve {

// The user who sends a request, and the cloud accounts for it.
struct ImAuthorization {
  std::string user;    // "" if only a token was sent
  std::string secret;  // password or token
  // The other lines in auth file format, for this request only. Secret.
  std::string accounts;
};

// Parses Authorization in its three forms: the lines of an auth file, joined by the two characters `\n` (a
// line break inside a value is `\\n`), or one JSON list of them; `Basic`; `Bearer`. Values of the lines are
// literal: file() and command() are not evaluated for clients. nullopt: it has no credential for this
// service. Invalid: it is malformed.
Result<std::optional<ImAuthorization>> read_authorization(std::string_view header);

// Parses lines of an auth file, or their JSON form, to the format of ImAuthorization::accounts, without the
// lines for this service. Invalid: it is malformed, or names a file or a command.
Result<std::string> read_accounts(std::string_view text);

// Returns the first type of `accept` that can be served: application/json if `json`, and `own`. nullopt: 415.
// Like the reference, ignores parameters (";q=") and uses the written order.
std::optional<std::string> accepted_type(std::string_view accept, std::string_view own, bool json);

// Format of an error: by Accept; JSON precedes HTML.
enum class ErrorForm { Text, Json, Html };
ErrorForm error_form(std::string_view accept);
std::string error_body(ErrorForm form, int status, const std::string& message);

// Parses a flag of a query: 1/0, true/false, yes/no, on/off, in any case. nullopt: none of these.
std::optional<bool> read_flag(std::string_view text);

}  // namespace radl::serve
