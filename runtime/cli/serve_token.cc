#include "runtime/cli/serve_token.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/files.h"
#include "runtime/cli/shown.h"
#include "runtime/serve/access.h"
#include "runtime/serve/service.h"
#include "runtime/state/lock.h"

namespace radl::cli {
namespace {

struct Options {
  std::string& folder;
  std::string user, scope = "apply", label, id;
  double days = 0;
  bool open = false;
};

Result<std::unique_ptr<serve::Access>> open(const Session& session, Options& options) {
  if (Status found = set_service_folder(session, options.folder); !found.ok()) return found;
  if (Status made = make_directories(options.folder, 0700); !made.ok()) return made;
  return serve::Access::open(options.folder, service_owner(session), *session.host.world);
}

int add_token(const Session& session, Options& options) {
  if (options.open) {
    if (Status found = set_service_folder(session, options.folder); !found.ok())
      return report(session, found);
    return show_link(session,
                     serve::one_time_link(options.folder, service_owner(session), *session.host.world,
                                          options.user, *serve::scope_named(options.scope)));
  }
  auto access = open(session, options);
  if (!access.ok()) return report(session, access.status());
  auto issued = (*access)->tokens().add((*access)->owner(), {.user = options.user,
                                                             .scope = *serve::scope_named(options.scope),
                                                             .label = options.label,
                                                             .lifetime = options.days * 24 * 3600});
  if (!issued.ok()) return report(session, issued.status());
  std::fprintf(stderr, "%s for %s, scope %s. The token is not shown again:\n", issued->token.id.c_str(),
               issued->token.user.c_str(), options.scope.c_str());
  std::printf("%s\n", issued->secret.c_str());
  return kDone;
}

int list(const Session& session, Options& options) {
  auto access = open(session, options);
  if (!access.ok()) return report(session, access.status());
  auto tokens = (*access)->tokens().list((*access)->owner());
  if (!tokens.ok()) return report(session, tokens.status());
  constexpr const char* kKinds[] = {"token", "session", "link"};
  for (const serve::Token& token : *tokens)
    std::printf("%-10s  %-16s  %-5s  %-7s  made %s  %s%s\n", token.id.c_str(), token.user.c_str(),
                std::string(serve::scope_name(token.scope)).c_str(), kKinds[size_t(token.kind)],
                utc_time(token.created).c_str(),
                token.expires == 0 ? "no end" : ("ends " + utc_time(token.expires)).c_str(),
                token.label.empty() ? "" : ("  " + shown(token.label)).c_str());
  return kDone;
}

int revoke(const Session& session, Options& options) {
  auto access = open(session, options);
  if (!access.ok()) return report(session, access.status());
  if (Status done = (*access)->tokens().revoke((*access)->owner(), options.id); !done.ok())
    return report(session, done);
  std::printf("Revoked %s and what it made\n", shown(options.id).c_str());
  return kDone;
}

}  // namespace

Status set_service_folder(const Session& session, std::string& folder) {
  if (folder.find("://") != folder.npos)
    return Status(Code::Invalid, "--folder " + folder + ": the service keeps its data in a local folder");
  if (folder.empty()) folder = session.host.data_file("serve");
  if (folder.empty()) return Status(Code::Invalid, "no home folder").with_hint("pass --folder DIR");
  return {};
}

int show_link(const Session& session, const Result<std::string>& link) {
  if (!link.ok()) return report(session, link.status());
  std::printf("Open this address within ten minutes; it works once: %s\n", link->c_str());
  std::fflush(stdout);
  return kDone;
}

std::string service_owner(const Session& session) {
  const std::string name = describe_self("serve", session.host.principal, *session.host.world).principal;
  return serve::is_user_name(name) ? name : "owner";
}

void add_token_commands(CLI::App& serve, Session& session, std::string& folder,
                        std::function<int()>& chosen) {
  auto options = std::make_shared<Options>(folder);
  CLI::App* tokens = serve.add_subcommand("token", "Manage the tokens of the service's users");
  tokens->require_subcommand(1);
  const auto command = [&](const char* name, const char* text, int (*action)(const Session&, Options&)) {
    CLI::App* made = tokens->add_subcommand(name, text);
    made->add_option("--folder", folder, "folder of the service; default: ~/.local/share/radlc/serve")
        ->type_name("DIR");
    made->callback([&chosen, &session, options, action] {
      chosen = [&session, options, action] { return action(session, *options); };
    });
    return made;
  };
  CLI::App* add = command("add", "Issue a token and print it", add_token);
  add->add_option("--user", options->user, "who it is for; default: the user of this command")
      ->type_name("NAME");
  add->add_option("--scope", options->scope, "what it grants")
      ->check(CLI::IsMember({"read", "plan", "apply", "admin"}))
      ->capture_default_str();
  add->add_option("--days", options->days, "days until it expires; default: never")
      ->check(CLI::Range(0.0, 36500.0))
      ->type_name("DAYS");
  add->add_flag("--open", options->open,
                "print a one-time link that opens the page for the user, instead of a token");
  add->add_option("--label", options->label, "what it is used for, as `token list` shows it");
  command("list", "List the tokens, without their secrets", list);
  command("revoke", "Revoke a token and all that it made", revoke)
      ->add_option("ID", options->id, "as `token list` shows it")
      ->required();
}

}  // namespace radl::cli
