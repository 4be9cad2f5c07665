#include "runtime/driver/machinery.h"

#include "common/text.h"
#include "runtime/ansible/ansible_runner.h"
#include "runtime/net/ssh/target.h"
#include "runtime/steps/native_runner.h"
#include "runtime/steps/program_runner.h"
#include "runtime/steps/training_runner.h"

namespace radl::driver {
namespace {

// One login; the executor repeats it while the node boots.
Result<std::unique_ptr<Remote>> log_in(ssh::Connections& connections, ssh::Logins& logins,
                                       const Json& attributes, const Context& context) {
  auto target = ssh::target_of(attributes, ssh::key_places(context.environment, context.work_directory));
  if (!target.ok()) return std::move(target).status();
  std::unique_ptr<Remote> remote = connections.to(*target, context.log);
  if (connections.is_proven(*target)) return remote;
  if (Status reached = logins.attempt(*remote, *target, context.booting, context.stop); !reached.ok())
    return reached;
  return remote;
}

Result<std::string> shown_host_key(const Json& attributes, const Context& context) {
  auto endpoint = ssh::endpoint_of(attributes, context.environment);
  if (!endpoint.ok()) return std::move(endpoint).status();
  return ssh::shown_host_key(*endpoint, context.stop);
}

std::vector<bool> answering(const Environment& environment, const std::vector<Json>& attributes,
                            const Stop& stop) {
  std::vector<ssh::Target> targets;
  std::vector<size_t> asked;
  for (size_t i = 0; i < attributes.size(); ++i) {
    if (auto target = ssh::endpoint_of(attributes[i], environment); target.ok()) {
      targets.push_back(std::move(*target));
      asked.push_back(i);
    }
  }
  // What has no address to be asked at is tried, and says itself what it lacks.
  std::vector<bool> answers(attributes.size(), true);
  const std::vector<bool> found = ssh::ports_answer(targets, stop);
  for (size_t i = 0; i < asked.size(); ++i) answers[asked[i]] = found[i];
  return answers;
}

}  // namespace

Catalog current_catalog(const Host& host) {
  Catalog catalog = built_in_catalog();
  for (const CloudProvider* provider : *host.providers) {
    if (provider->on_this_computer) continue;
    if (std::string path = host.catalog_file(provider->type); !path.empty())
      catalog.add_file(std::move(path), provider->type);
  }
  return catalog;
}

Machinery::Machinery(const Host& host, const MachineryOptions& options, Catalog catalog,
                     std::shared_ptr<const AuthFile> auth, const Stop& stop)
    : host_(host),
      options_(options),
      catalog_(std::move(catalog)),
      native_(make_native_runner()),
      ansible_(make_ansible_runner()),
      cloud_init_(make_cloud_init_runner()),
      training_(make_training_runner()),
      program_(make_program_runner()) {
  const CloudSetup setup{host.environment(), std::move(auth), connections_, stop};
  for (const CloudProvider* provider : *host.providers) {
    provider->add_clouds(setup, clouds_);
    for (const std::string& name : provider->other_names) clouds_.other_names.emplace(name, provider->type);
  }
  clouds_.asked = options.cloud;
}

Run Machinery::run() {
  Run run;
  run.world = host_.world;
  run.clouds = &clouds_;
  run.runners = {{ir::StepKind::Native, native_.get()},
                 {ir::StepKind::Ansible, ansible_.get()},
                 {ir::StepKind::CloudInit, cloud_init_.get()},
                 {ir::StepKind::Training, training_.get()},
                 {ir::StepKind::Program, program_.get()}};
  run.connect = [this](const ir::Node&, const Json& attributes, const Context& context) {
    return log_in(connections_, logins_, attributes, context);
  };
  run.answering = [this](const std::vector<Json>& attributes, const Stop& stop) {
    return answering(host_.environment(), attributes, stop);
  };
  run.host_key = shown_host_key;
  run.options.parallelism = options_.parallelism;
  return run;
}

Result<std::unique_ptr<Machinery>> make_machinery(const Host& host, const MachineryOptions& options,
                                                  const Stop& stop) {
  auto found = load_auth(host.environment(), options.auth, stop);
  if (!found.ok()) return std::move(found).status();
  std::shared_ptr<const AuthFile> auth;
  if (*found) auth = std::make_shared<const AuthFile>(std::move(**found));
  auto machinery = std::make_unique<Machinery>(host, options, current_catalog(host), std::move(auth), stop);
  const CloudSet& clouds = machinery->clouds();
  if (!options.cloud.empty() && !clouds.knows(options.cloud)) {
    const std::string near = clouds.meant_by(options.cloud);
    return Status(Code::Invalid,
                  "unknown cloud '" + options.cloud + "'; supported: " + join(clouds.names(), ", "))
        .with_hint(near.empty() ? "" : "did you mean " + near + "?");
  }
  return machinery;
}

}  // namespace radl::driver
