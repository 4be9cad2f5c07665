// Options that select a project, and a command's loaded project: asks for inputs on the terminal and prints
// findings on standard error.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/cli/command.h"
#include "runtime/driver/project.h"

namespace radl::cli {

// --state and --name.
void add_place_options(CLI::App& command, ProjectOptions& options);
void add_project_options(CLI::App& command, ProjectOptions& options,
                         std::vector<std::string>* words = nullptr);
// FILE, --file, --state and --name, for commands that need a state but no source. A command with further
// words (`ssh [FILE] NODE`) passes `words` and splits them with take_files().
void add_state_options(CLI::App& command, ProjectOptions& options, std::vector<std::string>* words = nullptr);
// Moves the leading words that name RADL files or folders to options.files: words that end in .radl, `.`,
// `..`, and folders written with a slash.
void take_files(std::vector<std::string>& words, ProjectOptions& options);

// driver::load_project; prints every finding on standard error. Invalid with an empty message: see those.
Result<std::unique_ptr<Project>> load_project(const Session& session, const ProjectOptions& options);
// Asks on the terminal; empty if it is not interactive.
AskInput asks_for_inputs(const Session& session);
// Prints the findings of a project's compilation, and their count if `loaded` has no other message.
void print_findings(const Session& session, const Project& project, const Status& loaded);
// Reports why no plan could be made, after related findings (use_state_of()). Returns the exit
// code.
int report_unplanned(const Session& session, const Project& project, const Status& why);

// driver::compile_options; asks for missing inputs on the terminal.
Result<CompileOptions> compile_options(const Session& session, const ProjectOptions& options);

}  // namespace radl::cli
