#include "runtime/serve/im_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "common/html.h"
#include "common/replaced.h"
#include "common/text.h"

namespace radl::serve {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kOwnType = "InfrastructureManager";

// The lines with real line breaks between them, and `\n` where a value has one.
std::string lines_of(std::string_view header) {
  if (header.starts_with('[')) return std::string(header);
  constexpr std::string_view kHeld = "\x01";  // no header has one
  std::string text = replaced(std::string(header), "\\\\n", kHeld);
  return replaced(replaced(std::move(text), "\\n", "\n"), kHeld, "\\n");
}

AuthReading of_a_client() {
  AuthReading reading;
  reading.name = "Authorization";
  reading.read = [](const std::string&) -> Result<std::string> {
    return Status(Code::Invalid, "a service reads no files for its clients");
  };
  reading.run = [](const std::vector<std::string>&) -> Result<std::string> {
    return Status(Code::Invalid, "a service runs no commands for its clients");
  };
  return reading;
}

// JSON is the one form of an auth file in which every value can be written.
std::string accounts_of(const AuthFile& file) {
  Json lines = Json::array();
  for (const AuthLine& line : file.lines) {
    if (line.type == kOwnType) continue;
    Json one = line.values;
    one["id"] = line.id;
    one["type"] = line.type;
    lines.push_back(std::move(one));
  }
  return lines.empty() ? std::string() : lines.dump();
}

std::string value_of(const AuthLine& line, const std::string& key) {
  const auto found = line.values.find(key);
  return found == line.values.end() ? std::string() : found->second;
}

Result<std::optional<ImAuthorization>> from_basic(std::string_view text) {
  auto decoded = base64_decode(text);
  const size_t colon = decoded.ok() ? decoded->find(':') : std::string::npos;
  if (colon == std::string::npos) return Status(Code::Invalid, "Authorization: not base64 of USER:PASSWORD");
  return std::optional(ImAuthorization{decoded->substr(0, colon), decoded->substr(colon + 1), {}});
}

}  // namespace

Result<std::optional<ImAuthorization>> read_authorization(std::string_view header) {
  const std::string_view text = trim(header);
  if (to_lower(text.substr(0, 6)) == "basic ") return from_basic(trim(text.substr(6)));
  if (to_lower(text.substr(0, 7)) == "bearer ")
    return std::optional(ImAuthorization{{}, std::string(trim(text.substr(7))), {}});
  auto file = parse_auth(lines_of(text), of_a_client());
  if (!file.ok()) return file.status();
  const auto own = file->of_type(kOwnType);
  if (own.empty()) return std::optional<ImAuthorization>();
  ImAuthorization caller;
  caller.user = value_of(*own.front(), "username");
  caller.secret = value_of(*own.front(), caller.user.empty() ? "token" : "password");
  caller.accounts = accounts_of(*file);
  if (caller.secret.empty()) return std::optional<ImAuthorization>();
  return std::optional(std::move(caller));
}

Result<std::string> read_accounts(std::string_view text) {
  auto file = parse_auth(text, of_a_client());
  if (!file.ok()) return file.status();
  for (const AuthLine& line : file->lines)
    if (!line.missing.empty()) return Status(Code::Invalid, line.id + ": " + line.missing.begin()->second);
  return accounts_of(*file);
}

std::optional<std::string> accepted_type(std::string_view accept, std::string_view own, bool json) {
  if (trim(accept).empty()) return std::string(own);
  for (const std::string_view part : split(accept, ',')) {
    const std::string type = to_lower(trim(part.substr(0, part.find(';'))));
    if (json && (type == "application/json" || type == "application/*")) return "application/json";
    if (type == own || type == "*/*" || type == "text/*") return std::string(own);
  }
  return {};
}

ErrorForm error_form(std::string_view sent) {
  const std::string accept = to_lower(sent);
  if (accept.find("application/json") != std::string_view::npos) return ErrorForm::Json;
  return accept.find("text/html") != std::string_view::npos ? ErrorForm::Html : ErrorForm::Text;
}

std::string error_body(ErrorForm form, int status, const std::string& message) {
  const std::string code = std::to_string(status);
  switch (form) {
    case ErrorForm::Json:
      return Json{{"message", message}, {"code", status}}.dump(-1, ' ', false,
                                                               Json::error_handler_t::replace);
    case ErrorForm::Html:
      return "<!DOCTYPE html><html><head><title>Error " + code + ".</title></head><body><h1>Code: " + code +
             ".</h1><h1>Message: " + escape_html(message) + "</h1></body></html>";
    case ErrorForm::Text:
      break;
  }
  return message;
}

std::optional<bool> read_flag(std::string_view text) {
  const std::string word = to_lower(text);
  if (word == "1" || word == "true" || word == "yes" || word == "on") return true;
  if (word == "0" || word == "false" || word == "no" || word == "off") return false;
  return {};
}

}  // namespace radl::serve
