// The options that name a project, and a project loaded for a command: with questions on the terminal and its
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
// FILE, --file, --state and --name, for commands that look for a state and need no source. A command with
// further words (`ssh [FILE] NODE`) gives `words`, and takes them apart with take_files().
void add_state_options(CLI::App& command, ProjectOptions& options, std::vector<std::string>* words = nullptr);
// Moves the leading words that name RADL files or folders to options.files: a word that ends in .radl, `.`,
// `..`, and a folder written with a slash.
void take_files(std::vector<std::string>& words, ProjectOptions& options);

// driver::load_project; prints every finding on standard error. Invalid with an empty message: all is said.
Result<std::unique_ptr<Project>> load_project(const Session& session, const ProjectOptions& options);
// Asks on the terminal; empty: there is no interactive terminal.
AskInput asks_for_inputs(const Session& session);
// Prints what the compilation of a project found; with their count if that is all that `loaded` says.
void print_findings(const Session& session, const Project& project, const Status& loaded);
// Reports why no plan could be made, after the findings that explain it (use_state_of()). Returns the exit
// code.
int report_unplanned(const Session& session, const Project& project, const Status& why);

// driver::compile_options; inputs without a value are asked for on the terminal.
Result<CompileOptions> compile_options(const Session& session, const ProjectOptions& options);

}  // namespace radl::cli
