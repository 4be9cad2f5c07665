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

// Authorization in its three forms: the lines of an auth file, joined by the two characters `\n` (a line
// break inside of a value: `\\n`), or one JSON list of them; `Basic`; `Bearer`. Values of the lines are taken
// as they are: file() and command() are none of a client's. nullopt: there is no credential of this service
// in it. Invalid: it is malformed.
Result<std::optional<ImAuthorization>> read_authorization(std::string_view header);

// Lines of an auth file, one a line or as JSON, in the form of ImAuthorization::accounts: without those of
// this service. Invalid: it is malformed, or names a file or a command.
Result<std::string> read_accounts(std::string_view text);

// The first type of `accept` that can be served: application/json where `json`, and `own`. Nothing: 415.
// Parameters (";q=") are dropped, and the order is the written one, as the reference has it.
std::optional<std::string> accepted_type(std::string_view accept, std::string_view own, bool json);

// How an error is written: by Accept, of which JSON wins, then HTML.
enum class ErrorForm { Text, Json, Html };
ErrorForm error_form(std::string_view accept);
std::string error_body(ErrorForm form, int status, const std::string& message);

// The flags of a query: 1/0, true/false, yes/no, on/off in any letters. nullopt: none of these.
std::optional<bool> read_flag(std::string_view text);

}  // namespace radl::serve
