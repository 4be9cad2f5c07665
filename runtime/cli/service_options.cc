// The commands and options that a service supports. For each option of these commands, the table says whether
// a service honours it, or why not.
#include <CLI/CLI.hpp>
#include <map>
#include <string_view>

#include "runtime/cli/service_commands.h"

namespace radl::cli {
namespace {

constexpr std::string_view kTakes = "";
constexpr std::string_view kState = "the service keeps the state";
constexpr std::string_view kAccounts = "the service uses its cloud accounts, or those that you stored there";
constexpr std::string_view kSudo = "a service asks no questions; set RADL_SUDO_PASSWORD for it";
constexpr std::string_view kSaved = "the service saves each plan, and runs exactly that one";
constexpr std::string_view kPlanned = "the plan that the service runs has it";
constexpr std::string_view kOthers = "run it where the cloud accounts are, without --server";

using Options = std::map<std::string_view, std::string_view>;  // why it is refused, by name

Options with(Options some, const Options& more) {
  some.insert(more.begin(), more.end());
  return some;
}

const std::map<std::string_view, Options>& supported() {
  static const Options state = {
      {"FILE", kTakes}, {"--file", kTakes}, {"--name", kTakes}, {"--state", kState}};
  static const Options project =
      with(state, {{"--input", kTakes}, {"--input-file", kTakes}, {"--module-path", kTakes}});
  static const Options clouds = {{"--cloud", kTakes}, {"--auth", kAccounts}};
  static const Options run = with(clouds, {{"--parallelism", kTakes},
                                           {"--auto-approve", kTakes},
                                           {"--json", kTakes},
                                           {"--log-json", kTakes},
                                           {"--lock-timeout", kTakes}});
  static const std::map<std::string_view, Options> all = {
      {"plan", with(with(project, clouds), {{"--out", kSaved},
                                            {"--json", kTakes},
                                            {"--dot", kTakes},
                                            {"--markdown", kTakes},
                                            {"--format", kTakes},
                                            {"--max-cost", kTakes},
                                            {"--html", kTakes},
                                            {"--force", kTakes},
                                            {"--detailed-exitcode", kTakes},
                                            {"--refresh", kTakes},
                                            {"--replace", kTakes},
                                            {"--target", kTakes},
                                            {"--ask-sudo-password", kSudo},
                                            {"--destroy", kTakes},
                                            {"--full", kTakes},
                                            {"--brief", kTakes}})},
      {"apply", with(with(project, run), {{"--ask-sudo-password", kSudo},
                                          {"--refresh", kTakes},
                                          {"--replace", kTakes},
                                          {"--target", kTakes},
                                          {"--max-cost", kTakes},
                                          {"--on-error", kTakes},
                                          {"--keep", kTakes},
                                          {"--detach", kTakes}})},
      {"scale", with(with(project, run), {{"SYSTEM", kTakes},
                                          {"N", kTakes},
                                          {"--node", kTakes},
                                          {"--reset", kTakes},
                                          {"--max-cost", kTakes}})},
      {"destroy", with(with(state, run), {{"--ask-sudo-password", kSudo},
                                          {"--input", kTakes},
                                          {"--target", kTakes},
                                          {"--also", kOthers},
                                          {"--from-cloud", kOthers}})},
      {"runs", with(state, {{"RUN", kTakes}, {"--follow", kTakes}, {"--from", kTakes}, {"--json", kTakes}})},
      {"wait", with(state, {{"--json", kTakes},
                            {"JOB", "a service waits for whole runs"},
                            {"--input", kPlanned},
                            {"--input-file", kPlanned},
                            {"--module-path", kPlanned},
                            {"--cloud", kPlanned},
                            {"--auth", kAccounts}})},
      {"logs", with(state, {{"NODE", kTakes}, {"--follow", kTakes}, {"--lines", kTakes}})},
      {"cancel", with(state, {{"JOB", kTakes}})},
      {"show", with(state, {{"--json", kTakes}})},
      {"output", with(state, {{"NAME", kTakes}, {"--json", kTakes}, {"--raw", kTakes}})},
      {"list", {{"--json", kTakes}}},
  };
  return all;
}

}  // namespace

Status fits_service(const CLI::App& command) {
  const auto options = supported().find(command.get_name());
  if (options == supported().end()) {
    std::string names;
    for (const auto& [name, its] : supported()) names += (names.empty() ? "" : ", ") + std::string(name);
    return invalid("radlc " + command.get_name() + " does not run on a service")
        .with_hint("these commands do: " + names);
  }
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    const auto its = options->second.find(option->get_name());
    if (its != options->second.end() && its->second.empty()) continue;
    return invalid(option->get_name() + " of radlc " + command.get_name() +
                   " is not supported with --server" +
                   (its == options->second.end() ? "" : ": " + std::string(its->second)));
  }
  return {};
}

}  // namespace radl::cli
