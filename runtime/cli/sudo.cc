#include "runtime/cli/sudo.h"

#include <CLI/CLI.hpp>

#include "runtime/cli/terminal.h"

namespace radl::cli {
namespace {

constexpr const char* kVariable = "RADL_SUDO_PASSWORD";

}  // namespace

void add_sudo_option(CLI::App& command, bool& ask) {
  command.add_flag("--ask-sudo-password", ask,
                   "ask for the sudo password of nodes (otherwise RADL_SUDO_PASSWORD)");
}

Result<std::string> given_sudo_password(const Session& session, bool ask) {
  const std::string given = session.host.variable(kVariable);
  if (!ask) return given;
  if (!session.terminal.can_ask)
    return Status(Code::Invalid, "--ask-sudo-password: this is not an interactive terminal")
        .with_hint("set RADL_SUDO_PASSWORD instead");
  return ask_line("Password for sudo on the nodes: ", true);
}

}  // namespace radl::cli
