#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/files.h"
#include "common/text.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/service_client.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/terminal.h"

namespace radl::cli::login_command {
namespace {

struct Options {
  std::string url, token_file;
  bool remove = false;
};

Result<std::string> read_token(const Session& session, const Options& options, const std::string& url) {
  if (!options.token_file.empty()) {
    auto text = read_file(options.token_file, 4096);
    if (!text.ok()) return text.status();
    return std::string(trim(*text));
  }
  if (!session.terminal.can_ask)
    return Status(Code::Invalid, "this is not an interactive terminal, so radlc cannot ask for the token")
        .with_hint("pass --token-file FILE");
  return std::string(trim(ask_line("Token for " + url + ":", true)));
}

// Verifies the token with the service before storing it.
int run(const Session& session, const Options& options) {
  auto url = server_url(options.url);
  if (!url.ok()) return report(session, url.status());
  if (options.remove) {
    const Status removed = keep_token(session, *url, "");
    return removed.ok() ? int(kDone) : report(session, removed);
  }
  auto token = read_token(session, options, *url);
  if (!token.ok()) return report(session, token.status());
  if (token->empty() || token->find_first_of(" \r\n\t") != token->npos)
    return report(session, invalid("that is not a token"));
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  auto me = ServiceClient(session, *url, *token, cancellation.finishing()).call("GET", "/me");
  if (!me.ok()) return report(session, me.status());
  if (Status kept = keep_token(session, *url, *token); !kept.ok()) return report(session, kept);
  std::fprintf(stderr, "You are %s on %s, with the scope %s.\n",
               shown(me->value("user", std::string())).c_str(), shown(*url).c_str(),
               shown(me->value("scope", std::string())).c_str());
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "login", "Keep the token of a service for commands with --server (docs/service-cli.md)");
  auto options = std::make_shared<Options>();
  command->add_option("URL", options->url, "address of `radlc serve`")->required();
  command
      ->add_option("--token-file", options->token_file, "read the token from this file; otherwise radlc asks")
      ->type_name("FILE");
  command->add_flag("--remove", options->remove, "forget the token of this service");
  return [options, &session] { return run(session, *options); };
}

}  // namespace radl::cli::login_command
