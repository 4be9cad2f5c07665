// Every command of radlc, in the order in which --help shows them.
#include "runtime/cli/command.h"

#include <cstdio>

#include "runtime/cli/all_commands.h"

namespace radl::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"check", "Run", add_check},
      {"plan", "Run", add_plan},
      {"apply", "Run", add_apply},
      {"destroy", "Run", add_destroy},
      {"show", "Look", add_show},
      {"output", "Look", add_output},
      {"ssh", "Look", add_ssh},
      {"logs", "Look", add_logs},
      {"state", "Look", add_state},
      {"fmt", "Write", add_fmt},
      {"compile", "Write", add_compile},
      {"convert", "Write", add_convert},
      {"doc", "Write", add_doc},
      {"graph", "Write", add_graph},
      {"templates", "Write", add_templates},
      {"console", "Learn", add_console},
      {"explain", "Learn", add_explain},
      {"lsp", "Other", add_lsp},
      {"completions", "Other", add_completions},
      {"version", "Other", add_version},
  };
  return all;
}

int report(const Session& session, const Status& status) {
  Style style(session.terminal.color);
  // An empty message: the findings were shown already.
  if (!status.message().empty()) {
    std::fprintf(stderr, "%s%serror:%s %s\n", style.bold().data(), style.red().data(), style.off().data(),
                 status.message().c_str());
  }
  if (!status.hint().empty()) std::fprintf(stderr, "  %s\n", status.hint().c_str());
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
