#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/version.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/outline.h"

namespace radl::cli::completions_command {

std::function<int()> add(CLI::App& app, Session&) {
  CLI::App* command =
      app.add_subcommand("completions", "Write a completion script for a shell, or the manual page");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh, fish, or man for radlc(1)")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
  return [shell, &app]() -> int {
    CommandOutline program = outline_of(app);
    std::string text = *shell == "bash"   ? bash_completion(program)
                       : *shell == "zsh"  ? zsh_completion(program)
                       : *shell == "fish" ? fish_completion(program)
                                          : manual_page(program, kVersionText);
    std::fputs(text.c_str(), stdout);
    return kDone;
  };
}

}  // namespace radl::cli::completions_command
