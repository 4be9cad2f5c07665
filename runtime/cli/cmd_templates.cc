#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/cli/all_commands.h"
#include "runtime/cli/shown.h"
#include "tools/templates/templates.h"

namespace radl::cli::templates_command {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string name;
  bool json = false;
};

void print_json(const std::vector<Template>& list) {
  nlohmann::json all = nlohmann::json::array();
  for (const Template& each : list) {
    all.push_back({{"path", each.path},
                   {"name", each.name},
                   {"kind", each.kind},
                   {"short", each.summary},
                   {"content", each.content},
                   {"readable", each.readable}});
  }
  std::printf("%s\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

Status all_there(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return not_found(path + ": no such file or folder");
  }
  return {};
}

int run_list(const Session& session, const Options& options) {
  std::vector<Template> list =
      list_templates(options.paths.empty() ? std::vector<std::string>{"."} : options.paths);
  if (Status there = all_there(options.paths); !there.ok()) return report(session, there);
  if (options.json) return print_json(list), kDone;
  if (list.empty()) return report(session, not_found("no .radl file here"));
  size_t name = 4, kind = 4;
  for (const Template& each : list) {
    name = std::max(name, each.name.size());
    kind = std::max(kind, each.kind.size());
  }
  Style style(session.terminal.color);
  std::printf("%s%-*s  %-*s  %s%s\n", style.bold().data(), int(name), "name", int(kind), "kind", "what it is",
              style.off().data());
  for (const Template& each : list) {
    std::string summary =
        each.readable ? each.summary : "(cannot be read: radlc check " + shell_word(each.path) + ")";
    std::printf("%-*s  %-*s  %s\n", int(name), each.name.c_str(), int(kind),
                each.kind.empty() ? "-" : shown(each.kind).c_str(), shown(summary).c_str());
  }
  return kDone;
}

int run_show(const Session& session, const Options& options) {
  for (const Template& each :
       list_templates(options.paths.empty() ? std::vector<std::string>{"."} : options.paths)) {
    if (each.name != options.name) continue;
    std::printf("%s (%s)\n%s\n", shown(each.name).c_str(), shown(each.path).c_str(),
                shown(each.summary).c_str());
    if (!each.content.empty()) std::printf("\n%s\n", shown(each.content).c_str());
    return kDone;
  }
  return report(session,
                not_found("unknown template " + options.name).with_hint("run `radlc templates list`"));
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("templates", "List EC3 templates with their descriptions");
  command->require_subcommand(1);
  auto options = std::make_shared<Options>();
  CLI::App* list = command->add_subcommand("list", "List name, kind and purpose of each file");
  list->add_option("PATH", options->paths, "files or folders (default: this folder)");
  list->add_flag("--json", options->json, "as JSON");
  CLI::App* show = command->add_subcommand("show", "Show the description of one template");
  show->add_option("NAME", options->name, "name of the template")->required();
  show->add_option("PATH", options->paths, "files or folders (default: this folder)");
  return [=, &session]() -> int {
    return list->parsed() ? run_list(session, *options) : run_show(session, *options);
  };
}

}  // namespace radl::cli::templates_command
