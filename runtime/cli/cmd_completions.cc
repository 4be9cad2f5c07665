#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/version.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/completion_values.h"
#include "runtime/cli/outline.h"

namespace radl::cli::completions_command {

namespace {

struct Asked {
  std::string kind, current;
  std::vector<std::string> words;
};

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("completions", "Write a completion script for a shell, or a manual page");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh, fish, man for radlc(1), or man5 for radl(5)")
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man", "man5"}));
  // The completion scripts call these at a Tab. Users do not, so they are hidden.
  auto asked = std::make_shared<Asked>();
  // Both texts start with '=', because an option's value must not be empty.
  command->add_option("--values", asked->kind)->group("");
  command->add_option("--current", asked->current)->group("");
  command->add_option("--word", asked->words)->group("");
  return [shell, asked, &app, &session]() -> int {
    if (!asked->kind.empty()) {
      for (std::string& word : asked->words) word.erase(0, 1);
      asked->current.erase(0, 1);
      for (const std::string& value :
           completion_values(session.host, asked->kind, asked->words, asked->current))
        std::printf("%s\n", value.c_str());
      return kDone;
    }
    if (shell->empty())
      return report(session, invalid("a shell is required: bash, zsh or fish; or man, man5"));
    CommandOutline program = outline_of(app, {{"CLOUD", types_of(*session.host.providers)}});
    std::string text = *shell == "bash"   ? bash_completion(program)
                       : *shell == "zsh"  ? zsh_completion(program)
                       : *shell == "fish" ? fish_completion(program)
                       : *shell == "man5" ? language_manual()
                                          : manual_page(program, kVersionText);
    std::fputs(text.c_str(), stdout);
    return kDone;
  };
}

}  // namespace radl::cli::completions_command
