// Small kindnesses of the command line, before CLI11 sees it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace radl::cli {

// `-out FILE` and `-json`, as Terraform writes them, become `--out FILE` and `--json` where an option of that
// name exists.
std::vector<std::string> with_double_dashes(const CLI::App& app, std::vector<std::string> arguments);

// `help` as the first word means --help, of the command that follows it if one does.
std::vector<std::string> with_help_option(std::vector<std::string> arguments);

// What follows `--` as one `--command=LINE`, quoted for the shell; one word is a shell line as it is.
std::vector<std::string> with_command_line(std::vector<std::string> arguments);

// An option that may be repeated takes one value each time: `apply --input a=1 FILE` names a file.
void one_value_each(CLI::App& app);

// "option '--out' has an empty value" for the first one that was given so (a variable of a script that is not
// set), else "": what was parsed must not be taken for an option that was left out.
std::string empty_option(const CLI::App& app);

// "unknown command 'plam'; did you mean 'plan'?" if the first word is not a command of `app`, which may be a
// command itself (`state`), else "". A word of another tool gets this program's: "unknown command 'up';
// run `radlc apply FILE.radl`".
std::string unknown_command(const CLI::App& app, const std::vector<std::string>& arguments);

// "unknown option '--jsn'; did you mean '--json'?" for the first option that neither the program nor the
// command that was given takes, else "". An option of another tool gets this program's.
std::string unknown_option(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace radl::cli
