#include "runtime/serve/account_api.h"

#include <algorithm>

#include "common/json_values.h"
#include "runtime/serve/own_call.h"
#include "runtime/serve/route.h"

namespace radl::serve {
namespace {

using httpd::Answer;

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

struct AccountApi::Route {
  std::string_view method, path;  // below /api
  Scope scope;
  Answer (AccountApi::*handler)(const Caller& caller, const std::string& id, const std::string& body);
};

const std::vector<AccountApi::Route>& AccountApi::routes() {
  static const std::vector<Route> all = {
      {"GET", "/me", Scope::Read, &AccountApi::me},
      {"DELETE", "/session", Scope::Read, &AccountApi::end_session},
      {"GET", "/tokens", Scope::Read, &AccountApi::list_tokens},
      {"POST", "/tokens", Scope::Read, &AccountApi::issue_token},
      {"DELETE", "/tokens/{token}", Scope::Read, &AccountApi::revoke_token},
      {"GET", "/credentials", Scope::Read, &AccountApi::list_credentials},
      {"PUT", "/credentials", Scope::Apply, &AccountApi::put_credentials},
      {"DELETE", "/credentials", Scope::Apply, &AccountApi::remove_credentials},
      {"GET", "/audit", Scope::Admin, &AccountApi::audit},
      {"GET", "/audit/refused", Scope::Admin, &AccountApi::audit_refused},
  };
  return all;
}

Json AccountApi::described() {
  Json all = Json::array();
  for (const Route& route : routes())
    all.push_back({{"method", route.method}, {"path", route.path}, {"scope", scope_name(route.scope)}});
  return all;
}

bool AccountApi::takes(const httpd::RequestHead& head) const {
  auto path = head.segments();
  if (!path.ok() || path->size() < 2 || (*path)[0] != "api") return false;
  return std::ranges::any_of(routes(), [&](const Route& route) {
    const std::string_view first = route.path.substr(1, route.path.find('/', 1) - 1);
    return first == (*path)[1];
  });
}

Begun AccountApi::begin(const httpd::RequestHead& head, const Caller& caller) {
  auto path = head.segments();
  if (!path.ok()) return not_found_here();
  path->erase(path->begin());
  std::string allowed;  // by other methods
  for (const Route& route : routes()) {
    const auto held = path_parameters(route.path, *path);
    if (!held) continue;
    if (route.method != head.method && !(head.method == "HEAD" && route.method == "GET")) {
      if (route.method == "GET") allowed += (allowed.empty() ? "" : ", ") + std::string("HEAD");
      allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
      continue;
    }
    if (route.scope != Scope::Read && !caller.may(route.scope)) return needs(route.scope);
    return with_body(head, kLargestAccountBody,
                     [this, &route, caller, id = held->empty() ? std::string() : held->front()](
                         const std::string& body) { return (this->*route.handler)(caller, id, body); });
  }
  return allowed.empty() ? not_found_here() : not_allowed(head.method, allowed);
}

Answer AccountApi::me(const Caller& caller, const std::string&, const std::string&) {
  return of(200, {{"user", caller.user},
                  {"scope", scope_name(caller.scope)},
                  {"token", caller.token},
                  {"trusted", users_.trusts(caller.user)}});
}

Answer AccountApi::end_session(const Caller& caller, const std::string&, const std::string&) {
  return access_.closed(caller);
}

Answer AccountApi::list_tokens(const Caller& caller, const std::string&, const std::string&) {
  auto all = access_.tokens().list(caller);
  if (!all.ok()) return failed(all.status());
  Json list = Json::array();
  for (const Token& token : *all) list.push_back(shown(token));
  return of(200, {{"tokens", std::move(list)}});
}

Answer AccountApi::issue_token(const Caller& caller, const std::string&, const std::string& body) {
  const Json json = json::parse_json(body);
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

Answer AccountApi::revoke_token(const Caller& caller, const std::string& id, const std::string&) {
  const Status revoked = access_.tokens().revoke(caller, id);
  return revoked.ok() ? done() : failed(revoked);
}

Answer AccountApi::list_credentials(const Caller& caller, const std::string&, const std::string&) {
  auto names = users_.vault().names(caller.user);
  if (!names.ok()) return failed(names.status());
  Json list = Json::array();
  for (const Vault::Name& name : *names) list.push_back({{"id", name.id}, {"type", name.type}});
  return of(200, {{"credentials", std::move(list)}});
}

Answer AccountApi::put_credentials(const Caller& caller, const std::string&, const std::string& body) {
  const Status kept = users_.vault().put(caller.user, body);
  return kept.ok() ? done() : failed(kept);
}

Answer AccountApi::remove_credentials(const Caller& caller, const std::string&, const std::string&) {
  const Status removed = users_.vault().remove(caller.user);
  return removed.ok() ? done() : failed(removed);
}

Answer AccountApi::audit(const Caller&, const std::string&, const std::string&) {
  return {.body = audit_.last(kAuditShown, false), .type = "application/x-ndjson"};
}

Answer AccountApi::audit_refused(const Caller&, const std::string&, const std::string&) {
  return {.body = audit_.last(kAuditShown, true), .type = "application/x-ndjson"};
}

}  // namespace radl::serve
