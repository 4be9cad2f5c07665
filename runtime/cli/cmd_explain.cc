#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/text.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/diag/render.h"
#include "runtime/cli/all_commands.h"

namespace radl::cli::explain_command {
namespace {

int list_codes() {
  for (const CodeInfo& code : all_codes()) {
    std::printf("%s  %s\n", std::string(code.id).c_str(), std::string(code.title).c_str());
  }
  return kDone;
}

int explain_code(const Session& session, const std::string& id) {
  if (const CodeInfo* code = find_code(id)) {
    std::fputs(explain(*code).c_str(), stdout);
    return kDone;
  }
  std::vector<std::string> ids;
  for (const CodeInfo& code : all_codes()) ids.emplace_back(code.id);
  std::string near = nearest(id, ids);
  return report(session, not_found("there is no code " + id)
                             .with_hint(near.empty() ? "radlc explain --list shows all"
                                                     : "did you mean " + near + "?"));
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("explain", "Explain the code of an error or warning");
  auto id = std::make_shared<std::string>();
  auto list = std::make_shared<bool>(false);
  command->add_option("CODE", *id, "such as E0101");
  command->add_flag("--list", *list, "all codes with their titles");
  return [=, &session]() -> int { return *list || id->empty() ? list_codes() : explain_code(session, *id); };
}

}  // namespace radl::cli::explain_command
