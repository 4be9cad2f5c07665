#include "runtime/cli/check_auth_clouds.h"

#include <fmt/format.h>

#include <ctime>

#include "common/http/http.h"
#include "common/human.h"
#include "common/text.h"
#include "runtime/auth/azure_account.h"
#include "runtime/auth/azure_lines.h"
#include "runtime/auth/google_account.h"
#include "runtime/auth/google_lines.h"
#include "runtime/auth/openstack_account.h"
#include "runtime/auth/openstack_lines.h"
#include "runtime/cli/command.h"

namespace radl::cli {
namespace {

using Answer = CloudPermission::Answer;

std::vector<const CloudPermission*> with_answer(const CloudAccount& account, Answer answer) {
  std::vector<const CloudPermission*> found;
  for (const CloudPermission& one : account.permissions)
    if (one.answer == answer) found.push_back(&one);
  return found;
}

// An entry whose settings may be what is wrong with it.
template <class Settings>
CloudEntry entry(const std::string& name, const char* cloud, Result<Settings> settings,
                 CloudAccount (*look)(http::Client&, const Settings&, const Stop&)) {
  return {name, [=](http::Client& http, const Stop& stop) {
            if (settings.ok()) return look(http, *settings, stop);
            return CloudAccount{.cloud = cloud, .status = settings.status()};
          }};
}

std::vector<CloudEntry> entries_of(const Environment& environment, const AuthFile& file) {
  std::vector<CloudEntry> entries;
  for (const AuthLine* line : openstack_lines(file))
    entries.push_back(entry(line->id, "openstack", openstack_settings(file, *line), look_at_openstack));
  for (const AuthLine* line : file.of_type("GCE"))
    entries.push_back(entry(line->id, "gce", google_settings(file, *line, google::load_places(environment)),
                            look_at_google));
  for (const AuthLine* line : file.of_type("Azure"))
    entries.push_back(entry(line->id, "azure", azure_settings(file, *line, azure::load_places(environment)),
                            look_at_azure));
  return entries;
}

Status add_openstack(const Environment& environment, std::vector<CloudEntry>& entries) {
  auto configuration = openstack::Configuration::load(environment);
  if (!configuration.ok()) return configuration.status();
  const std::string chosen = environment("OS_CLOUD");
  std::vector<std::string> names;
  for (const std::string& name : (*configuration)->names())
    if (chosen.empty() || name == chosen) names.push_back(name);
  if (names.empty() && !chosen.empty()) names.push_back(chosen);
  for (const std::string& name : names)
    entries.push_back(entry(name, "openstack", (*configuration)->cloud(name), look_at_openstack));
  return {};
}

std::string permissions_text(const CloudAccount& account) {
  std::string text = fmt::format("{} of {} allowed{}", with_answer(account, Answer::Allowed).size(),
                                 account.permissions.size(),
                                 account.cloud == "openstack" ? "; what makes something is not tried" : "");
  for (const CloudPermission* one : with_answer(account, Answer::Missing))
    text += "\n               missing: " + one->name;
  // Where none could be found out there is one reason for all.
  const auto unknown = with_answer(account, Answer::Unknown);
  if (unknown.size() > 1 && unknown.size() == account.permissions.size() &&
      unknown.front()->why == unknown.back()->why)
    return "unknown: " + unknown.front()->why;
  for (const CloudPermission* one : unknown)
    text += "\n               unknown: " + one->name + " (" + one->why + ")";
  return text;
}

std::string fact_text(const nlohmann::json& fact) {
  if (fact.is_string()) return fact.get<std::string>();
  return join(fact.get<std::vector<std::string>>(), ", ");
}

}  // namespace

Result<std::vector<CloudEntry>> cloud_entries(const Environment& environment,
                                              const std::optional<AuthFile>& file) {
  if (file) return entries_of(environment, *file);
  std::vector<CloudEntry> entries;
  if (Status added = add_openstack(environment, entries); !added.ok()) return added;
  if (auto settings = google::load_settings(environment);
      settings.ok() || settings.status().code() != Code::NotFound)
    entries.push_back(entry("gce", "gce", std::move(settings), look_at_google));
  if (auto settings = azure::load_settings(environment);
      settings.ok() || settings.status().code() != Code::NotFound)
    entries.push_back(entry("azure", "azure", std::move(settings), look_at_azure));
  return entries;
}

nlohmann::json to_json(const std::string& name, const CloudAccount& account) {
  nlohmann::json json = {
      {"name", name}, {"cloud", account.cloud}, {"region", account.region}, {"from", account.origin}};
  for (const auto& [key, value] : account.facts) json[key] = value;
  if (!account.status.ok()) {
    json["error"] = account.status.text();
    return json;
  }
  if (account.expires) json["expires"] = account.expires;
  if (!account.quotas_status.ok()) json["quotas_unknown"] = account.quotas_status.text();
  for (const CloudQuota& quota : account.quotas)
    json["quotas"][quota.name] = {{"limit", quota.limit}, {"used", quota.used}};
  for (const auto& [answer, key] : {std::pair{Answer::Allowed, "allowed"}, {Answer::Missing, "missing"}}) {
    json[key] = nlohmann::json::array();
    for (const CloudPermission* one : with_answer(account, answer)) json[key].push_back(one->name);
  }
  json["unknown"] = nlohmann::json::object();
  for (const CloudPermission* one : with_answer(account, Answer::Unknown))
    json["unknown"][one->name] = one->why;
  return json;
}

std::string render_text(const std::string& name, const CloudAccount& account) {
  std::string text = name + "\n";
  auto line = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<12} {}\n", label, value);
  };
  line("from", account.origin);
  line("region", account.region);
  for (const auto& [key, value] : account.facts) line(key, fact_text(value));
  if (!account.status.ok()) {
    line("error", account.status.text());
    return text;
  }
  if (account.expires)
    line("expires", fmt::format("in {} minutes", (account.expires - std::time(nullptr)) / 60));
  if (!account.quotas_status.ok()) line("quotas", "unknown: " + account.quotas_status.message());
  for (const CloudQuota& quota : account.quotas) {
    const std::string limit = quota.limit < 0 ? "no limit" : plain_number(quota.limit);
    line("quota", fmt::format("{} of {}  {}", plain_number(quota.used), limit, quota.name));
  }
  line("permissions", permissions_text(account));
  return text;
}

int exit_status(const CloudAccount& account) {
  const Code why = account.status.code();
  if (why == Code::NotFound || why == Code::Invalid) return kUserError;
  return why != Code::Ok || !with_answer(account, Answer::Missing).empty() ? kWorldError : kDone;
}

}  // namespace radl::cli
