#include "runtime/cli/check_auth_openstack.h"

#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "common/http/http.h"
#include "common/text.h"
#include "runtime/auth/openstack_account.h"
#include "runtime/auth/openstack_lines.h"
#include "runtime/cli/command.h"
#include "runtime/cli/shown.h"

namespace radl::cli {
namespace {

using Answer = OpenStackCall::Answer;

std::vector<const OpenStackCall*> calls_with(const OpenStackAccount& account, Answer answer) {
  std::vector<const OpenStackCall*> found;
  for (const OpenStackCall& call : account.calls)
    if (call.answer == answer) found.push_back(&call);
  return found;
}

nlohmann::json account_json(const std::string& name, const OpenStackAccount& account) {
  nlohmann::json json = {
      {"name", name}, {"cloud", "openstack"}, {"region", account.region}, {"from", account.origin}};
  if (!account.status.ok()) {
    json["error"] = account.status.text();
    return json;
  }
  json["user"] = account.user;
  json["project"] = account.project;
  json["project_id"] = account.project_id;
  json["roles"] = account.roles;
  json["services"] = account.services;
  if (account.expires) json["expires"] = account.expires;
  for (const OpenStackQuota& quota : account.quotas)
    json["quotas"][quota.name] = {{"limit", quota.limit}, {"used", quota.used}};
  for (const auto& [answer, key] : {std::pair{Answer::Allowed, "allowed"}, {Answer::Missing, "missing"}}) {
    json[key] = nlohmann::json::array();
    for (const OpenStackCall* call : calls_with(account, answer)) json[key].push_back(call->call);
  }
  json["unknown"] = nlohmann::json::object();
  for (const OpenStackCall* call : calls_with(account, Answer::Unknown))
    json["unknown"][call->call] = call->why;
  return json;
}

std::string calls_text(const OpenStackAccount& account) {
  std::string text = fmt::format("{} of {} calls allowed; what makes something is not tried",
                                 calls_with(account, Answer::Allowed).size(), account.calls.size());
  for (const OpenStackCall* call : calls_with(account, Answer::Missing))
    text += "\n               missing: " + call->call;
  for (const OpenStackCall* call : calls_with(account, Answer::Unknown))
    text += "\n               unknown: " + call->call + " (" + call->why + ")";
  return text;
}

void print_account(const std::string& name, const OpenStackAccount& account) {
  std::string text = name + "\n";
  auto line = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<12} {}\n", label, value);
  };
  line("from", account.origin);
  line("region", account.region);
  if (!account.status.ok()) {
    line("error", account.status.text());
  } else {
    line("user", account.user);
    line("project", fmt::format("{} ({})", account.project, account.project_id));
    line("roles", join(account.roles, ", "));
    if (account.expires)
      line("expires", fmt::format("in {} minutes", (account.expires - std::time(nullptr)) / 60));
    line("services", join(account.services, ", "));
    for (const OpenStackQuota& quota : account.quotas) {
      const std::string limit = quota.limit < 0 ? "no limit" : fmt::format("{:g}", quota.limit);
      line("quota", fmt::format("{:g} of {}  {}", quota.used, limit, quota.name));
    }
    line("calls", calls_text(account));
  }
  std::fputs(shown(text).c_str(), stdout);
}

int exit_status(const OpenStackAccount& account) {
  const Code why = account.status.code();
  if (why == Code::NotFound || why == Code::Invalid) return kUserError;
  return why != Code::Ok || !calls_with(account, Answer::Missing).empty() ? kWorldError : kDone;
}

}  // namespace

Result<std::vector<OpenStackEntry>> openstack_entries(const std::optional<AuthFile>& file) {
  std::vector<OpenStackEntry> entries;
  if (file) {
    for (const AuthLine* line : openstack_lines(*file))
      entries.push_back({line->id, openstack_settings(*file, *line)});
    return entries;
  }
  auto configuration = openstack::Configuration::load();
  if (!configuration.ok()) return configuration.status();
  const std::string chosen = (*configuration)->environment("OS_CLOUD");
  for (const std::string& name : (*configuration)->names())
    if (chosen.empty() || name == chosen) entries.push_back({name, (*configuration)->cloud(name)});
  if (entries.empty() && !chosen.empty()) entries.push_back({chosen, (*configuration)->cloud(chosen)});
  return entries;
}

int check_openstack(http::Client& http, const OpenStackEntry& entry, const Stop& stop, nlohmann::json* list) {
  OpenStackAccount account;
  if (entry.settings.ok())
    account = look_at_openstack(http, *entry.settings, stop);
  else
    account.status = entry.settings.status();
  if (list)
    list->push_back(account_json(entry.name, account));
  else
    print_account(entry.name, account);
  return exit_status(account);
}

}  // namespace radl::cli
