// What the credentials for clouds are good for, before anything is made with them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/auth/auth_file.h"
#include "runtime/auth/aws_account.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/check_auth_clouds.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"

namespace radl::cli::check_auth_command {
namespace {

using Json = nlohmann::json;
using Answer = AwsPermission::Answer;

struct Flags {
  std::string auth, region;
  bool json = false;
};

// One credential to look at.
struct Entry {
  std::string name;
  Result<std::shared_ptr<aws::CredentialSource>> source;
};

std::vector<const AwsPermission*> with_answer(const AwsAccount& account, Answer answer) {
  std::vector<const AwsPermission*> found;
  for (const auto& permission : account.permissions) {
    if (permission.answer == answer) found.push_back(&permission);
  }
  return found;
}

Json json_of(const std::string& name, const AwsAccount& account) {
  Json json = {{"name", name}, {"region", account.region}, {"from", account.origin}};
  if (!account.identity_status.ok()) {
    json["error"] = account.identity_status.text();
    return json;
  }
  json["account"] = account.identity.account;
  json["arn"] = account.identity.arn;
  if (account.expires) json["expires"] = *account.expires;
  if (account.quotas_status.ok()) {
    json["quotas_from"] = account.quotas_from;
    for (const auto& quota : account.quotas) json["quotas"][quota.name] = quota.value;
  } else {
    json["quotas_unknown"] = account.quotas_status.text();
  }
  for (const auto& [answer, key] : {std::pair{Answer::Allowed, "allowed"}, {Answer::Missing, "missing"}}) {
    json[key] = Json::array();
    for (const auto* permission : with_answer(account, answer)) json[key].push_back(permission->action);
  }
  json["unknown"] = Json::object();
  for (const auto* permission : with_answer(account, Answer::Unknown))
    json["unknown"][permission->action] = permission->why;
  return json;
}

std::string permissions_text(const AwsAccount& account) {
  const auto missing = with_answer(account, Answer::Missing), unknown = with_answer(account, Answer::Unknown);
  std::string text = fmt::format("{} of {} calls allowed", with_answer(account, Answer::Allowed).size(),
                                 account.permissions.size());
  for (const auto* permission : missing) text += "\n               missing: " + permission->action;
  for (const auto* permission : unknown)
    text += "\n               unknown: " + permission->action + " (" + permission->why + ")";
  return text;
}

void print(const std::string& name, const AwsAccount& account) {
  std::string text = name + "\n";
  auto line = [&](std::string_view label, const std::string& value) {
    text += fmt::format("  {:<12} {}\n", label, value);
  };
  if (!account.origin.empty()) line("from", account.origin);
  line("region", account.region);
  if (!account.identity_status.ok()) {
    line("error", account.identity_status.text());
  } else {
    line("account", account.identity.account);
    line("identity", account.identity.arn);
    if (account.expires)
      line("expires", fmt::format("in {} minutes", (*account.expires - std::time(nullptr)) / 60));
    if (!account.quotas_status.ok()) {
      line("quotas", "unknown: " + account.quotas_status.message());
    } else {
      for (const auto& quota : account.quotas)
        line("quota", fmt::format("{:g}  {}", quota.value, quota.name));
    }
    line("permissions", permissions_text(account));
  }
  std::fputs(shown(text).c_str(), stdout);
}

// No credentials anywhere is the user's to put right; those that are refused or lack something are the
// world's.
int code_of(const AwsAccount& account) {
  const Code why = account.identity_status.code();
  if (why == Code::NotFound || why == Code::Invalid) return kUserError;
  return why != Code::Ok || !with_answer(account, Answer::Missing).empty() ? kWorldError : kDone;
}

// Lines of the auth file, or what AWS's own tools would take.
std::vector<Entry> entries_of(const std::optional<AuthFile>& file, http::Client& http,
                              const std::shared_ptr<const aws::Configuration>& configuration) {
  if (!file) return {{"aws", aws::default_credentials(http, configuration)}};
  std::vector<Entry> entries;
  for (const AuthLine* line : file->of_type("EC2"))
    entries.push_back({line->id, ec2_credentials(*file, *line)});
  return entries;
}

int run(const Session& session, const Flags& flags) {
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  const Stop stop = cancellation.finishing();
  auto file = load_auth(session.host.environment(), flags.auth, stop);
  if (!file.ok()) return report(session, file.status());
  if (*file) {
    for (const auto& note : (*file)->notes) std::fprintf(stderr, "note: %s\n", shown(note).c_str());
  }
  auto configuration = aws::Configuration::load(session.host.environment());
  if (!configuration.ok()) return report(session, configuration.status());
  auto configured = (*configuration)->region();
  if (!configured.ok()) return report(session, configured.status());
  const std::string region = !flags.region.empty()  ? flags.region
                             : !configured->empty() ? *configured
                                                    : "us-east-1";
  if (!aws::is_region_name(region))
    return report(session, invalid("--region: \"" + region + "\" is no name of an AWS region"));
  http::Client http(session.host.environment());
  const std::vector<Entry> entries = entries_of(*file, http, *configuration);
  auto others = cloud_entries(session.host.environment(), *file);
  if (!others.ok()) return report(session, others.status());
  if (entries.empty() && others->empty())
    return report(session, not_found((*file)->path +
                                     ": holds no credential of type EC2, OpenStack, EGI, GCE or Azure"));
  Json list = Json::array();
  int code = kDone;
  for (const Entry& entry : entries) {
    AwsAccount account;
    account.region = region;
    if (entry.source.ok())
      account = look_at_account({http, **configuration, *entry.source, region, stop});
    else
      account.identity_status = entry.source.status();
    if (Status s = stop.check(); !s.ok()) return report(session, s);
    // Who has credentials for another cloud alone needs none for AWS.
    if (!*file && !others->empty() && account.identity_status.code() == Code::NotFound) continue;
    code = std::max(code, code_of(account));
    if (flags.json)
      list.push_back(json_of(entry.name, account));
    else
      print(entry.name, account);
  }
  for (const CloudEntry& entry : *others) {
    const CloudAccount account = entry.look(http, stop);
    if (Status s = stop.check(); !s.ok()) return report(session, s);
    code = std::max(code, exit_status(account));
    if (flags.json)
      list.push_back(to_json(entry.name, account));
    else
      std::fputs(shown(render_text(entry.name, account)).c_str(), stdout);
  }
  if (flags.json) std::printf("%s\n", list.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  return code;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("check-auth",
                                         "Show the accounts of your credentials for EC2, OpenStack, Google "
                                         "and Azure, their quotas, and missing permissions");
  auto flags = std::make_shared<Flags>();
  command
      ->add_option("--auth", flags->auth,
                   "auth file of the Infrastructure Manager (default: RADL_AUTH, IM_AUTH, or the credentials "
                   "of the clouds' own tools)")
      ->type_name("FILE");
  command->add_option("--region", flags->region, "AWS region (default: AWS_REGION, the profile's, us-east-1)")
      ->type_name("REGION");
  command->add_flag("--json", flags->json, "as JSON");
  return [=, &session] { return run(session, *flags); };
}

}  // namespace radl::cli::check_auth_command
