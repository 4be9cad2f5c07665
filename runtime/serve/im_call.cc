#include "runtime/serve/im_call.h"

#include <algorithm>

#include "common/text.h"

namespace radl::serve {
namespace {

using httpd::Answer;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Unsupported is 415 here, which is for types of bodies and not for what is in one.
Result<Document> of_tosca(std::string_view body) {
  auto document = Document::from_tosca(body);
  if (document.status().code() == Code::Unsupported)
    return Status(Code::Invalid, document.status().message());
  return document;
}

Answer detail(int status, const std::string& why) {
  return {.status = status, .body = text_of({{"detail", why}})};
}

}  // namespace

Answer error_answer(const httpd::RequestHead& head, int status, const std::string& message) {
  const ErrorForm form = error_form(head.header("accept").value_or(""));
  constexpr const char* kTypes[] = {"text/plain", "application/json", "text/html"};
  return {.status = status, .body = error_body(form, status, message), .type = kTypes[size_t(form)]};
}

Result<ImCall> ImCall::read(const httpd::RequestHead& head, const std::string& body,
                            const std::string& scheme, const Caller& caller) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::string_view text = body;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  ImCall call{head, text, scheme, head.method == "HEAD" ? "GET" : head.method, {}, {}, caller, {}, {}, {}};
  auto path = head.segments();
  if (!path.ok()) return Status(Code::NotFound, "Not Found");
  auto parameters = head.parameters();
  if (!parameters.ok()) return parameters.status();
  call.path = std::move(*path);
  call.parameters = std::move(*parameters);
  auto sent = read_authorization(head.header("authorization").value_or(""));
  if (sent.ok() && *sent) call.accounts = std::move((*sent)->accounts);
  return call;
}

std::string ImCall::parameter(std::string_view name) const {
  const auto found = std::ranges::find(parameters, name, &std::pair<std::string, std::string>::first);
  return found == parameters.end() ? std::string() : found->second;
}

Result<bool> ImCall::flag(std::string_view name, bool otherwise) const {
  const auto found = std::ranges::find(parameters, name, &std::pair<std::string, std::string>::first);
  if (found == parameters.end()) return otherwise;
  const auto value = read_flag(found->second);
  if (!value) return Status(Code::Invalid, std::string(name) + " is yes or no");
  return *value;
}

Result<Document> ImCall::document() const {
  const std::string_view sent = head.header("content-type").value_or("");
  const std::string type = to_lower(trim(sent.substr(0, sent.find(';'))));
  if (type == "application/json") return Document::from_json(body.empty() ? "[]" : body);
  if (type == "text/yaml" || type == "text/x-yaml" || type == "application/yaml") return of_tosca(body);
  if (type.empty() || type == "*/*" || type == "text/plain" || type == "text/*") return Document::parse(body);
  return Status(Code::Unsupported, "Unsupported Media Type: " + type);
}

std::string ImCall::uri(const std::string& to) const {
  return scheme + "://" + std::string(head.header("host").value_or("")) + to;
}

Answer ImCall::answer(const std::string& own, const std::string& text, const Json& as_json) const {
  const auto type = accepted_type(head.header("accept").value_or(""), own, true);
  if (!type)
    return failed(415, "Unsupported Accept Media Types: " + std::string(head.header("accept").value_or("")));
  return {.body = *type == own && own != "application/json" ? text : text_of(as_json), .type = *type};
}

Answer ImCall::json(const Json& value) const { return answer("application/json", {}, value); }

Answer ImCall::uris(const std::vector<std::string>& list) const {
  std::string text;
  Json items = Json::array();
  for (const std::string& one : list) {
    text += (text.empty() ? "" : "\n") + one;
    items.push_back({{"uri", one}});
  }
  return answer("text/uri-list", text, {{"uri-list", std::move(items)}});
}

Answer ImCall::failed(int status, const std::string& why) const {
  const std::string message = doing.empty() ? why : "Error " + doing + ": " + why;
  return error_answer(head, status, message);
}

Answer ImCall::failed(const Status& status) const {
  const int code = status.code() == Code::Unsupported ? 415
                   : status.code() == Code::Auth      ? 403
                   : status.code() == Code::NotFound  ? 404
                   : status.code() == Code::Conflict  ? 409
                                                      : 400;
  return failed(code, status.text());
}

Answer ImCall::unparsable(const Status& status) const {
  if (status.code() != Code::Invalid) return failed(status);
  return error_answer(head, 400, "Error parsing request body: " + status.text());
}

Answer ImCall::unprocessable(const std::string& why) const { return detail(422, why); }
Answer ImCall::not_found() const { return detail(404, "Not Found"); }
Answer ImCall::not_allowed(const std::string& allowed) const {
  Answer answer = detail(405, "Method Not Allowed");
  answer.headers.emplace_back("Allow", allowed);
  return answer;
}

}  // namespace radl::serve
