// Webhooks of the own API.
#include "runtime/serve/own_api.h"

namespace radl::serve {

using httpd::Answer;

Answer OwnApi::list_webhooks(OwnCall& call) {
  Json list = Json::array();
  for (const Webhook& hook : webhooks_.list(call.caller))
    list.push_back(to_json(hook, call.caller.may(Scope::Apply)));
  return json_answer({{"webhooks", std::move(list)}});
}

Answer OwnApi::add_webhook(OwnCall& call) {
  auto body = call.json();
  if (!body.ok()) return error_answer(body.status());
  auto url = text_in(*body, "url");
  if (!url.ok()) return error_answer(url.status());
  const Json events = body->value("events", Json::array());
  std::vector<std::string> names;
  for (const Json& event : events) {
    if (!events.is_array() || !event.is_string())
      return error_answer(invalid("'events' is not a list of strings"));
    names.push_back(event.get<std::string>());
  }
  const auto slot = processes_.take(call.caller.user);  // names are looked up
  if (!slot) return too_many_processes();
  auto made = webhooks_.add(call.caller.user, *url, names);
  if (!made.ok()) return error_answer(made.status());
  Json json = to_json(*made, true);
  json["secret"] = made->secret;
  Answer answer = json_answer(json, 201);
  answer.headers.emplace_back("Location", "/api/v1/webhooks/" + made->id);
  return answer;
}

Answer OwnApi::remove_webhook(OwnCall& call) {
  const Status removed = webhooks_.remove(call.caller, call.path[0]);
  return removed.ok() ? Answer{.status = 204, .type = "text/plain"} : error_answer(removed);
}

}  // namespace radl::serve
