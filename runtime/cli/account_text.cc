#include "runtime/cli/account_text.h"

#include <fmt/format.h>

#include <ctime>

#include "common/human.h"
#include "common/text.h"
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

std::string permissions_text(const CloudAccount& account) {
  std::string text = fmt::format("{} of {} allowed", with_answer(account, Answer::Allowed).size(),
                                 account.permissions.size());
  if (!account.permissions_note.empty()) text += "; " + account.permissions_note;
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
  for (const CloudQuota& quota : account.quotas) {
    nlohmann::json& one = json["quotas"][quota.name] = {{"limit", quota.limit}};
    if (quota.used) one["used"] = *quota.used;
  }
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
    const std::string used = quota.used ? plain_number(*quota.used) + " of " : "";
    line("quota", used + limit + "  " + quota.name);
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
