#include "runtime/driver/machinery.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/http/closed_address.h"
#include "common/text.h"
#include "runtime/ansible/ansible_runner.h"
#include "runtime/auth/azure_lines.h"
#include "runtime/auth/google_lines.h"
#include "runtime/auth/openstack_lines.h"
#include "runtime/clouds/azure/azure_cloud.h"
#include "runtime/clouds/ec2/ec2_cloud.h"
#include "runtime/clouds/gce/gce_cloud.h"
#include "runtime/clouds/hosts/hosts_cloud.h"
#include "runtime/clouds/local/local_cloud.h"
#include "runtime/clouds/openstack/openstack_cloud.h"
#include "runtime/net/ssh/target.h"
#include "runtime/steps/native_runner.h"
#include "runtime/steps/program_runner.h"
#include "runtime/steps/training_runner.h"

namespace radl::driver {
namespace {

// Every cloud that there is one of.
std::vector<std::unique_ptr<Cloud>> all_clouds(const Environment& environment, ssh::Connections& connections,
                                               const Stop& stop) {
  std::vector<std::unique_ptr<Cloud>> clouds;
  // Nodes of `local` run as the user of this process, and `hosts` logs in with that user's keys.
  if (http::is_confined(environment)) return clouds;
  local::Options here = local::options_of(environment);
  here.stop = stop;
  clouds.push_back(local::make_cloud(here));
  clouds.push_back(hosts::make_cloud(hosts::options_of(environment, &connections)));
  return clouds;
}

// The line of an account, by its id; "": the first of its type.
Result<const AuthLine*> line_of(const AuthFile& auth, const char* type, const std::string& account) {
  const AuthLine* line = account.empty() ? auth.of_type(type).front() : auth.find(account);
  if (line && line->type == type) return line;
  return invalid(fmt::format("{} has no line of type {} with the id '{}'", auth.path, type, account));
}

// Keys from the auth file where there is one with lines for EC2, else as AWS's own tools find them.
Result<ec2::Options> ec2_options(http::Client& http, const std::shared_ptr<const AuthFile>& auth) {
  Result<ec2::Options> options = ec2::options_of(http);
  if (!options.ok() || !auth || auth->of_type("EC2").empty()) return options;
  options->credentials =
      [auth](const std::string& account) -> Result<std::shared_ptr<aws::CredentialSource>> {
    auto line = line_of(*auth, "EC2", account);
    if (!line.ok()) return line.status();
    return ec2_credentials(*auth, **line);
  };
  options->has_credentials = [auth](const std::string& account) {
    return line_of(*auth, "EC2", account).ok();
  };
  return options;
}

// From the auth file where there is one with lines for OpenStack, else as OpenStack's own tools find them.
Result<openstack::Options> openstack_options(http::Client& http,
                                             const std::shared_ptr<const AuthFile>& auth) {
  Result<openstack::Options> options = openstack::options_of(http);
  if (!options.ok() || !auth || openstack_lines(*auth).empty()) return options;
  options->settings = [auth,
                       other = options->settings](const std::string& account) -> Result<openstack::Settings> {
    const auto lines = openstack_lines(*auth);
    const AuthLine* line = account.empty() ? lines.front() : auth->find(account);
    const bool ours = std::find(lines.begin(), lines.end(), line) != lines.end();
    return ours ? openstack_settings(*auth, *line) : other(account);
  };
  return options;
}

// The names that a `deploy` may say: ids of the auth file, and clouds of clouds.yaml.
std::vector<std::string> openstack_accounts(const Environment& environment,
                                            const std::shared_ptr<const AuthFile>& auth) {
  std::vector<std::string> names;
  if (auth)
    for (const AuthLine* line : openstack_lines(*auth)) names.push_back(line->id);
  // What cannot be read is reported when a cloud of it is asked for.
  if (auto configuration = openstack::Configuration::load(environment); configuration.ok())
    for (std::string& name : (*configuration)->names()) names.push_back(std::move(name));
  return names;
}

// From the auth file where there is one with lines for Google, else as Google's own tools find them.
Result<gce::Options> gce_options(http::Client& http, const std::shared_ptr<const AuthFile>& auth) {
  Result<gce::Options> options = gce::options_of(http);
  if (!options.ok() || !auth || auth->of_type("GCE").empty()) return options;
  options->settings = [auth,
                       places = options->places](const std::string& account) -> Result<google::Settings> {
    auto line = line_of(*auth, "GCE", account);
    return line.ok() ? google_settings(*auth, **line, places) : Result<google::Settings>(line.status());
  };
  return options;
}

// From the auth file where there is one with lines for Azure, else as Azure's own tools find them.
Result<azure::Options> azure_options(http::Client& http, const std::shared_ptr<const AuthFile>& auth) {
  Result<azure::Options> options = azure::options_of(http);
  if (!options.ok() || !auth || auth->of_type("Azure").empty()) return options;
  options->settings = [auth,
                       places = options->places](const std::string& account) -> Result<azure::Settings> {
    auto line = line_of(*auth, "Azure", account);
    return line.ok() ? azure_settings(*auth, **line, places) : Result<azure::Settings>(line.status());
  };
  return options;
}

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
  for (const std::string cloud : {"ec2", "openstack", "gce", "azure"}) {
    if (std::string path = host.catalog_file(cloud); !path.empty()) catalog.add_file(std::move(path), cloud);
  }
  return catalog;
}

Machinery::Machinery(const Host& host, const MachineryOptions& options, Catalog catalog,
                     std::shared_ptr<const AuthFile> auth, const Stop& stop)
    : host_(host),
      options_(options),
      catalog_(std::move(catalog)),
      owned_(all_clouds(host.environment(), connections_, stop)),
      native_(make_native_runner()),
      ansible_(make_ansible_runner()),
      cloud_init_(make_cloud_init_runner()),
      training_(make_training_runner()),
      program_(make_program_runner()) {
  const Environment& environment = host.environment();
  families_.push_back(
      ec2::make_family(environment, [auth](http::Client& http) { return ec2_options(http, auth); }));
  for (const std::unique_ptr<Cloud>& cloud : owned_) clouds_.add(*cloud);
  for (const std::unique_ptr<CloudFamily>& family : families_) clouds_.add(*family);
  if (auth) {
    for (const AuthLine* line : auth->of_type("EC2")) clouds_.add_account(line->id, *families_.back());
  }
  auto load = [auth](http::Client& http) { return openstack_options(http, auth); };
  families_.push_back(openstack::make_family(environment, load));
  clouds_.add(*families_.back());
  for (const std::string& name : openstack_accounts(environment, auth)) {
    if (clouds_.knows(name)) continue;
    families_.push_back(openstack::make_family(environment, load, name));
    clouds_.add_account(name, *families_.back());
  }
  add_family(gce::make_family(environment, [auth](http::Client& http) { return gce_options(http, auth); }),
             auth.get(), "GCE");
  add_family(
      azure::make_family(environment, [auth](http::Client& http) { return azure_options(http, auth); }),
      auth.get(), "Azure");
  clouds_.asked = options.cloud;
}

void Machinery::add_family(std::unique_ptr<CloudFamily> family, const AuthFile* auth, const char* type) {
  families_.push_back(std::move(family));
  clouds_.add(*families_.back());
  if (!auth) return;
  for (const AuthLine* line : auth->of_type(type)) clouds_.add_account(line->id, *families_.back());
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
    const std::vector<std::string> names = clouds.names();
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    const std::string near = clouds.meant_by(options.cloud);
    return Status(Code::Invalid, "unknown cloud '" + options.cloud + "'; supported: " + list)
        .with_hint(near.empty() ? "" : "did you mean " + near + "?");
  }
  return machinery;
}

}  // namespace radl::driver
