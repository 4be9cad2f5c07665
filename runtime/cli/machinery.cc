#include "runtime/cli/machinery.h"

#include <CLI/CLI.hpp>

#include "common/text.h"
#include "runtime/ansible/ansible_runner.h"
#include "runtime/net/ssh/target.h"
#include "runtime/providers/local/local_provider.h"
#include "runtime/steps/native_runner.h"
#include "runtime/steps/training_runner.h"

namespace radl::cli {
namespace {

// One login; the executor repeats it while the node boots.
Result<std::unique_ptr<Remote>> connect(const ir::Node&, const Json& attributes, const Context& context) {
  auto target = ssh::target_of(attributes);
  if (!target.ok()) return std::move(target).status();
  std::unique_ptr<Remote> remote = ssh::make_remote(*target, context.log);
  ssh::Refusal refusal = context.booting ? ssh::Refusal::MayPass : ssh::Refusal::Final;
  if (Status reached = ssh::wait_until_reachable(*remote, context.stop(), context.log, refusal);
      !reached.ok())
    return reached;
  return remote;
}

}  // namespace

Machinery::Machinery(const RunOptions& options)
    : options_(options),
      local_(local::make_provider()),
      native_(make_native_runner()),
      ansible_(make_ansible_runner()),
      cloud_init_(make_cloud_init_runner()),
      training_(make_training_runner()) {
  providers_.by_name["local"] = local_.get();
  providers_.fallback = options.provider;
}

Run Machinery::run() {
  Run run;
  run.world = &real_world();
  run.providers = &providers_;
  run.runners = {{ir::StepKind::Native, native_.get()},
                 {ir::StepKind::Ansible, ansible_.get()},
                 {ir::StepKind::CloudInit, cloud_init_.get()},
                 {ir::StepKind::Training, training_.get()}};
  run.connect = connect;
  run.options.parallelism = options_.parallelism;
  return run;
}

void add_run_options(CLI::App& command, RunOptions& options) {
  command.add_option("--provider", options.provider, "where nodes go that name no cloud")
      ->capture_default_str();
  command.add_option("--parallelism", options.parallelism, "how many things are done at once")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_flag("--auto-approve", options.auto_approve, "do it without asking");
  command.add_flag("--json", options.json, "events as JSON lines on standard output instead of text");
  command
      .add_option("--log-json", options.log_json, "write every event as a line of JSON to this file as well")
      ->type_name("FILE");
  add_lock_timeout(command, options.lock_timeout);
}

void add_lock_timeout(CLI::App& command, double& seconds) {
  command.add_option("--lock-timeout", seconds, "seconds to wait while somebody else holds the state's lock")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
}

Result<std::unique_ptr<Machinery>> make_machinery(const RunOptions& options) {
  auto machinery = std::make_unique<Machinery>(options);
  const auto& known = machinery->providers().by_name;
  if (!known.count(options.provider)) {
    std::vector<std::string> names;
    std::string list;
    for (const auto& [name, provider] : known) {
      names.push_back(name);
      list += (list.empty() ? "" : ", ") + name;
    }
    std::string near = nearest(options.provider, names);
    return Status(Code::Invalid, "there is no provider " + options.provider + "; there are: " + list)
        .with_hint(near.empty() ? "" : "did you mean " + near + "?");
  }
  return machinery;
}

}  // namespace radl::cli
