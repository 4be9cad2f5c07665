#include "runtime/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "common/shell_quote.h"
#include "common/text.h"

namespace radl::cli {
namespace {

void collect_long_names(const CLI::App& app, std::set<std::string>& names) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.insert(name);
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    collect_long_names(*command, names);
}

// What other tools call a thing, and how it is done here.
struct OtherWord {
  std::string_view name, here;
};

constexpr OtherWord kCommandsElsewhere[] = {
    {"init", "radlc needs no initialization; run `radlc plan FILE.radl`"},
    {"validate", "run `radlc check FILE.radl`"},
    {"lint", "run `radlc check FILE.radl`"},
    {"preview", "run `radlc plan FILE.radl`"},
    {"diff", "run `radlc plan FILE.radl`"},
    {"estimate", "`radlc plan FILE.radl` shows costs and a forecast"},
    {"cost", "`radlc plan FILE.radl` shows costs and a forecast"},
    {"refresh", "run `radlc plan --refresh FILE.radl`"},
    {"up", "run `radlc apply FILE.radl`"},
    {"launch", "run `radlc apply FILE.radl`"},
    {"templates", "run `radlc doc TEMPLATE.radl`"},
    {"create", "run `radlc apply FILE.radl`"},
    {"deploy", "run `radlc apply FILE.radl`"},
    {"start", "run `radlc apply FILE.radl`"},
    {"train", "run `radlc apply FILE.radl`"},
    {"down", "run `radlc destroy FILE.radl`"},
    {"delete", "run `radlc destroy FILE.radl`"},
    {"terminate", "run `radlc destroy FILE.radl`"},
    {"stop", "run `radlc cancel` to end a job, or `radlc destroy` to remove nodes"},
    {"status", "run `radlc show` for one infrastructure, or `radlc list` for all"},
    {"ps", "run `radlc list`, or `radlc queue` for jobs"},
    {"taint", "run `radlc apply --replace 'NODE[0]' FILE.radl`"},
    {"untaint", "run `radlc plan FILE.radl` to see what would be replaced"},
    {"force-unlock", "run `radlc state unlock`"},
    {"workspace", "use --name to keep several infrastructures of one file"},
    {"scp", "run `radlc cp`"},
    {"rsync", "run `radlc cp`"},
    {"format", "run `radlc fmt FILE.radl`"},
    {"bench", "run `radlc profile FILE.radl`, then `radlc recommend FILE.radl`"},
    {"resize", "run `radlc scale FILE.radl SYSTEM N`"},
};

constexpr OtherWord kOptionsElsewhere[] = {
    {"var", "write --input NAME=VALUE"},
    {"env", "write --input NAME=VALUE; programs get environment variables from the file"},
    {"set", "write --input NAME=VALUE"},
    {"var-file", "write --input-file FILE"},
    {"values", "write --input-file FILE"},
    {"yes", "write --auto-approve"},
    {"dry-run", "run `radlc plan`"},
    {"dryrun", "run `radlc plan`"},
    {"check", "run `radlc plan`"},
    {"infra", "write --cloud CLOUD"},
    {"region", "set the region of the cloud's tools, such as AWS_REGION, or `availability_zone` in the file"},
    {"zone", "set `availability_zone` in the file"},
    {"gpus", "set `gpu.count` and `gpu.model` in the file"},
    {"use-spot", "set `spot = 'yes'` in the file"},
    {"spot", "set `spot = 'yes'` in the file"},
    {"num-nodes", "set the number in `deploy`, or run `radlc scale`"},
    {"nnodes", "set the number in `deploy`, or run `radlc scale`"},
    {"workspace", "write --name NAME"},
    {"detach-run", "write --detach"},
    {"idle-minutes-to-autostop", "set `stop.idle` in the file"},
    {"backend-config", "write --state PLACE"},
    {"refresh-only", "run `radlc plan --refresh`"},
};

template <size_t N>
std::string_view meant(const OtherWord (&table)[N], std::string_view name) {
  const auto found = std::find_if(std::begin(table), std::end(table),
                                  [&](const OtherWord& one) { return one.name == name; });
  return found == std::end(table) ? std::string_view() : found->here;
}

// "; did you mean 'plan'?", or what another tool's word is here; "" if neither is known.
std::string advice(std::string_view here, const std::string& near) {
  if (!here.empty()) return "; " + std::string(here);
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

}  // namespace

std::vector<std::string> with_help_option(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments.front() != "help") return arguments;
  arguments.erase(arguments.begin());
  arguments.push_back("--help");
  return arguments;
}

std::vector<std::string> with_double_dashes(const CLI::App& app, std::vector<std::string> arguments) {
  std::set<std::string> names;
  collect_long_names(app, names);
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument.size() < 3 || argument[0] != '-' || argument[1] == '-') continue;
    std::string name = argument.substr(1, argument.find('=') - 1);
    if (name.size() > 1 && names.count(name)) argument.insert(0, "-");
  }
  return arguments;
}

std::vector<std::string> with_command_line(std::vector<std::string> arguments) {
  auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes == arguments.end() || dashes + 1 == arguments.end()) return arguments;
  const bool one = dashes + 2 == arguments.end();
  std::string line;
  for (auto word = dashes + 1; word != arguments.end(); ++word)
    line += (line.empty() ? "" : " ") + (one ? *word : shell_quote(*word));
  arguments.erase(dashes, arguments.end());
  arguments.push_back("--command=" + line);
  return arguments;
}

void one_value_each(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (!option->get_positional() && option->get_items_expected_max() > 1) option->allow_extra_args(false);
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) one_value_each(*command);
}

std::string empty_option(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->count() == 0 || option->get_items_expected_min() == 0) continue;
    for (const std::string& value : option->results()) {
      if (value.empty()) return "option '" + option->get_name() + "' has an empty value";
    }
  }
  for (const CLI::App* command : app.get_subcommands()) {
    if (std::string wrong = empty_option(*command); !wrong.empty()) return wrong;
  }
  return "";
}

std::string unknown_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (names.empty()) return "";
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.starts_with("-")) {
      const CLI::Option* option = app.get_option_no_throw(argument);
      if (option != nullptr && option->get_items_expected_max() > 0) ++i;  // its value
      continue;
    }
    if (argument == app.get_name()) continue;
    for (const std::string& name : names) {
      if (name == argument) return "";
    }
    // Other tools' command names are not suggested for subcommands.
    const std::string_view other = app.get_parent() ? "" : meant(kCommandsElsewhere, argument);
    return "unknown command '" + argument + "'" + advice(other, nearest(argument, names));
  }
  return "";
}

std::string unknown_option(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::set<std::string> known;
  collect_long_names(app, known);  // of other commands nothing was set up: see main.cc
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    const size_t dashes = argument.find_first_not_of('-');
    // With one dash, as Terraform's users write: only words that are known elsewhere.
    if (dashes == 0 || dashes == argument.npos || dashes > 2) continue;
    const std::string name = argument.substr(dashes, argument.find('=') - dashes);
    if (known.count(name) || (dashes == 1 && meant(kOptionsElsewhere, name).empty())) continue;
    const std::string near = nearest(name, {known.begin(), known.end()});
    return "unknown option '" + argument.substr(0, argument.find('=')) + "'" +
           advice(meant(kOptionsElsewhere, name), near.empty() ? "" : "--" + near);
  }
  return "";
}

}  // namespace radl::cli
