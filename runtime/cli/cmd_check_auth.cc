// What the credentials for clouds permit, before anything is created with them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/http/http.h"
#include "runtime/auth/auth_file.h"
#include "runtime/cli/account_text.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"

namespace radl::cli::check_auth_command {
namespace {

using Json = nlohmann::json;

struct Flags {
  std::string auth, region;
  bool json = false;
};

int run(const Session& session, const Flags& flags) {
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  const Stop stop = cancellation.finishing();
  auto file = load_auth(session.host.environment(), flags.auth, stop);
  if (!file.ok()) return report(session, file.status());
  if (*file) {
    for (const auto& note : (*file)->notes) std::fprintf(stderr, "note: %s\n", shown(note).c_str());
  }
  auto entries = find_credentials(*session.host.providers,
                                  {session.host.environment(), *file ? &**file : nullptr, flags.region});
  if (!entries.ok()) return report(session, entries.status());
  http::Client http(session.host.environment());
  Json list = Json::array();
  int code = kDone;
  for (const CredentialEntry& entry : *entries) {
    const CloudAccount account = entry.check(http, stop);
    if (Status s = stop.check(); !s.ok()) return report(session, s);
    if (entry.may_be_missing && entries->size() > 1 && account.status.code() == Code::NotFound) continue;
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
  CLI::App* command =
      app.add_subcommand("check-auth",
                         "Show the accounts of your cloud credentials, their quotas, and missing "
                         "permissions");
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
