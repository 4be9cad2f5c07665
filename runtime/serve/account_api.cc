#include "runtime/serve/account_api.h"

#include <nlohmann/json.hpp>

#include "runtime/serve/own_call.h"

namespace radl::serve {
namespace {

using httpd::Answer;
using Json = nlohmann::json;

constexpr size_t kLargestAccountBody = size_t{256} << 10, kAuditShown = size_t{1} << 20;

Answer of(int status, const Json& json) {
  return {.status = status, .body = json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}
Answer failed(const Status& status) { return error_answer(status); }
Answer not_found_here() { return error_answer(404, "not_found", "there is no such address"); }
Answer needs(Scope scope) {
  return error_answer(403, "auth", "this needs the scope " + std::string(scope_name(scope)));
}
Answer done() { return {.status = 204, .type = "text/plain"}; }

Json shown(const Token& token) {
  constexpr const char* kKinds[] = {"token", "session", "link"};
  return {{"id", token.id},
          {"user", token.user},
          {"label", token.label},
          {"kind", kKinds[size_t(token.kind)]},
          {"scope", scope_name(token.scope)},
          {"created", utc_time(token.created)},
          {"expires", token.expires == 0 ? Json() : Json(utc_time(token.expires))}};
}

std::string text_in(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

bool AccountApi::takes(const httpd::RequestHead& head) const {
  for (const std::string_view own :
       {"/api/me", "/api/session", "/api/tokens", "/api/credentials", "/api/audit"})
    if (head.path == own || head.path.starts_with(std::string(own) + "/")) return true;
  return false;
}

Begun AccountApi::begin(const httpd::RequestHead& head, const Caller& caller) {
  return with_body(head, kLargestAccountBody,
                   [this, head, caller](const std::string& body) { return answer(head, caller, body); });
}

Answer AccountApi::answer(const httpd::RequestHead& head, const Caller& caller, const std::string& body) {
  auto path = head.segments();
  if (!path.ok() || path->size() < 2 || path->size() > 3) return not_found_here();
  const std::string& what = (*path)[1];
  const std::string id = path->size() == 3 ? (*path)[2] : "";
  if (what == "tokens") return tokens(head.method, caller, id, body);
  if (!id.empty() && !(what == "audit" && id == "refused")) return not_found_here();
  if (what == "me" && head.method == "GET")
    return of(200, {{"user", caller.user},
                    {"scope", scope_name(caller.scope)},
                    {"token", caller.token},
                    {"trusted", users_.trusts(caller.user)}});
  if (what == "session" && head.method == "DELETE") return access_.closed(caller);
  if (what == "credentials") return credentials(head.method, caller, body);
  if (what == "audit" && head.method == "GET") {
    if (!caller.may(Scope::Admin)) return needs(Scope::Admin);
    const bool refused = id == "refused";
    return {.body = audit_.last(kAuditShown, refused), .type = "application/x-ndjson"};
  }
  return not_allowed(head.method, what == "session" ? "DELETE" : "GET");
}

Answer AccountApi::tokens(const std::string& method, const Caller& caller, const std::string& id,
                          const std::string& body) {
  if (method == "DELETE" && !id.empty()) {
    const Status revoked = access_.tokens().revoke(caller, id);
    return revoked.ok() ? done() : failed(revoked);
  }
  if (!id.empty()) return not_allowed(method, "DELETE");
  if (method == "GET") {
    auto all = access_.tokens().list(caller);
    if (!all.ok()) return failed(all.status());
    Json list = Json::array();
    for (const Token& token : *all) list.push_back(shown(token));
    return of(200, {{"tokens", std::move(list)}});
  }
  if (method != "POST") return not_allowed(method, "GET, POST");
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) return failed(invalid("the body is not a JSON object"));
  const auto scope = scope_named(text_in(json, "scope"));
  if (!scope) return failed(invalid("'scope' must be read, plan, apply or admin"));
  const auto days = json.find("days");
  if (days != json.end() && (!days->is_number() || *days < 0))
    return failed(invalid("'days' must be a non-negative number"));
  auto issued =
      access_.tokens().add(caller, {.user = text_in(json, "user"),
                                    .scope = *scope,
                                    .label = text_in(json, "label"),
                                    .lifetime = days == json.end() ? 0 : days->get<double>() * 86400});
  if (!issued.ok()) return failed(issued.status());
  Json answer = shown(issued->token);
  answer["secret"] = issued->secret;
  return of(201, answer);
}

Answer AccountApi::credentials(const std::string& method, const Caller& caller, const std::string& body) {
  if (method != "GET" && !caller.may(Scope::Apply)) return needs(Scope::Apply);
  if (method == "GET") {
    auto names = users_.vault().names(caller.user);
    if (!names.ok()) return failed(names.status());
    Json list = Json::array();
    for (const Vault::Name& name : *names) list.push_back({{"id", name.id}, {"type", name.type}});
    return of(200, {{"credentials", std::move(list)}});
  }
  if (method == "PUT") {
    const Status kept = users_.vault().put(caller.user, body);
    return kept.ok() ? done() : failed(kept);
  }
  if (method == "DELETE") {
    const Status removed = users_.vault().remove(caller.user);
    return removed.ok() ? done() : failed(removed);
  }
  return not_allowed(method, "GET, PUT, DELETE");
}

}  // namespace radl::serve
