#include "runtime/serve/own_call.h"

#include <charconv>

namespace radl::serve {
namespace {

int http_status(Code code) {
  switch (code) {
    case Code::NotFound:
      return 404;
    case Code::Exists:
    case Code::Conflict:
    case Code::Cancelled:
      return 409;
    case Code::Auth:
      return 403;
    case Code::Quota:
      return 507;
    case Code::Retry:
    case Code::Timeout:
      return 503;
    case Code::Lost:
    case Code::Corrupt:
    case Code::Internal:
      return 500;
    default:
      return 400;
  }
}

}  // namespace

std::string OwnCall::parameter(const std::string& name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string() : found->second;
}

Result<Json> OwnCall::json() const {
  Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) return invalid("the body is not a JSON object");
  return json;
}

Result<std::string> text_in(const Json& json, const std::string& name, const std::string& otherwise) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return otherwise;
  if (!found->is_string()) return invalid("'" + name + "' is not a string");
  return found->get<std::string>();
}

Result<double> number_in(const Json& json, const std::string& name, double otherwise) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return otherwise;
  if (!found->is_number()) return invalid("'" + name + "' is not a number");
  return found->get<double>();
}

Result<unsigned long long> whole_number(const std::string& name, const std::string& text) {
  unsigned long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return invalid("'" + name + "' is not a whole number: " + text);
  return value;
}

httpd::Answer json_answer(const Json& json, int status) {
  return {.status = status, .body = json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

httpd::Answer error_answer(const Status& status) {
  return error_answer(http_status(status.code()), code_name(status.code()), status.message(), status.hint());
}

httpd::Answer error_answer(int http, std::string_view code, const std::string& message,
                           const std::string& hint) {
  Json error = {{"code", code}, {"message", message}};
  if (!hint.empty()) error["hint"] = hint;
  return json_answer({{"error", std::move(error)}}, http);
}

}  // namespace radl::serve
