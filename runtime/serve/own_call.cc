#include "runtime/serve/own_call.h"

#include <charconv>

#include "common/json_depth.h"
#include "common/json_values.h"
#include "runtime/serve/document.h"
#include "runtime/serve/workspace.h"

namespace radl::serve {
namespace {

// Each value of a body takes many times its bytes in memory.
constexpr size_t kMostValues = 200'000;

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
      return 429;
    case Code::Unsupported:
      return 422;
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
  if (json_shape(body).values > kMostValues) return invalid("the body has too many values");
  Json json = json::parse_json(body);
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

Result<bool> flag_in(const Json& json, const std::string& name) {
  const Json flag = json.value(name, Json(false));
  if (!flag.is_boolean()) return invalid("'" + name + "' is not true or false");
  return flag.get<bool>();
}

Result<unsigned long long> whole_number(const std::string& name, const std::string& text) {
  unsigned long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return invalid("'" + name + "' is not an integer: " + text);
  return value;
}

Result<std::vector<std::string>> inputs_in(const Json& body) {
  const Json inputs = body.value("inputs", Json::object());
  if (!inputs.is_object()) return invalid("'inputs' is not an object");
  std::vector<std::string> list;
  for (const auto& [name, value] : inputs.items())
    list.push_back(name + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  return list;
}

Status may_compile(const OwnCall& call, const std::string& program) {
  if (call.caller.may(Scope::Apply)) return {};
  const auto document = Document::parse(program);
  if (document.ok() && !document->is_radl2()) return {};
  return Status(Code::Auth, "programs of `radl 2` can read files of the service: this needs the scope apply");
}

httpd::Answer json_answer(const Json& json, int status) {
  return {.status = status, .body = json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

Json unreadable_row(const Workspace& of, const Status& why, Json about) {
  about["infrastructure"] = of.id();
  about["name"] = of.name();
  about["error"] = why.text();
  return about;
}

httpd::Answer error_answer(const Status& status) {
  return error_answer(http_status(status.code()), code_name(status.code()), status.message(), status.hint());
}

httpd::Answer too_many_processes() {
  httpd::Answer answer =
      error_answer(429, "retry", "too many commands are running", "try again in a few seconds");
  answer.headers.emplace_back("Retry-After", "2");
  return answer;
}

httpd::Answer not_allowed(const std::string& method, const std::string& allowed) {
  httpd::Answer answer = error_answer(405, "invalid", "this address does not support " + method);
  answer.headers.emplace_back("Allow", allowed);
  return answer;
}

httpd::Answer error_answer(int http, std::string_view code, const std::string& message,
                           const std::string& hint) {
  Json error = {{"code", code}, {"message", message}};
  if (!hint.empty()) error["hint"] = hint;
  return json_answer({{"error", std::move(error)}}, http);
}

}  // namespace radl::serve
