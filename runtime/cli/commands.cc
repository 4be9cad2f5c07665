// Every command of radlc, in the order in which --help shows them.
#include "runtime/cli/command.h"

#include <cstdio>

#include "runtime/cli/all_commands.h"
#include "runtime/cli/apply.h"
#include "runtime/cli/jobs.h"
#include "runtime/cli/node_commands.h"
#include "runtime/cli/shown.h"

namespace radl::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"check", "Run", check_command::add},
      {"plan", "Run", plan_command::add},
      {"apply", "Run", apply_command::add},
      {"scale", "Run", scale_command::add},
      {"autoscale", "Run", autoscale_command::add},
      {"destroy", "Run", destroy_command::add},
      {"test", "Run", test_command::add},
      {"demo", "Run", demo_command::add},
      {"import", "Run", import_command::add},
      {"check-auth", "Look", check_auth_command::add},
      {"list", "Look", list_command::add},
      {"show", "Look", show_command::add},
      {"output", "Look", show_command::add_output},
      {"ssh", "Look", ssh_command::add},
      {"exec", "Look", exec_command::add},
      {"cp", "Look", cp_command::add},
      {"logs", "Look", logs_command::add},
      {"queue", "Look", queue_command::add},
      {"submit", "Run", submit_command::add},
      {"cancel", "Run", cancel_command::add},
      {"state", "Look", state_command::add},
      {"catalog", "Look", catalog_command::add},
      {"history", "Look", history_command::add},
      {"runs", "Look", runs_command::add},
      {"recommend", "Foresee", recommend_command::add},
      {"profile", "Foresee", profile_command::add},
      {"calibration", "Foresee", calibration_command::add},
      {"fmt", "Write", fmt_command::add},
      {"vendor", "Write", vendor_command::add},
      {"compile", "Write", compile_command::add},
      {"convert", "Write", convert_command::add},
      {"doc", "Write", doc_command::add},
      {"graph", "Write", graph_command::add},
      {"templates", "Write", templates_command::add},
      {"console", "Learn", console_command::add},
      {"explain", "Learn", explain_command::add},
      {"lsp", "Other", lsp_command::add},
      {"completions", "Other", completions_command::add},
      {"version", "Other", version_command::add},
  };
  return all;
}

int report(const Session& session, const Status& status) {
  Style style(session.terminal.color);
  // An empty message: the findings were shown already.
  if (!status.message().empty()) {
    std::fprintf(stderr, "%s%serror:%s %s\n", style.bold().data(), style.red().data(), style.off().data(),
                 shown(status.message()).c_str());
  }
  if (!status.hint().empty()) std::fprintf(stderr, "  %s\n", shown(status.hint()).c_str());
  switch (status.code()) {
    case Code::Ok:
      return kDone;
    case Code::Invalid:
    case Code::NotFound:
    case Code::Exists:
      return kUserError;
    case Code::Cancelled:
      return kInterrupted;
    default:
      return kWorldError;
  }
}

}  // namespace radl::cli
