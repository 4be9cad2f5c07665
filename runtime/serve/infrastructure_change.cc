// What changes an infrastructure: each checks, changes the document, and hands in the runs that follow.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/files.h"
#include "runtime/plan/ordinals.h"
#include "runtime/serve/infrastructure_job.h"

namespace radl::serve {

namespace {

Status untrusted(const std::string& what) {
  return Status(Code::Auth,
                what + " run on the computer of this service, which does not trust its users with that")
      .with_hint("ask its administrator to start it with --trust-users");
}

// What is refused before anything of it is done; driver::Machinery has no such clouds either.
Status check_untrusted(const ir::Program& program, const Settings& settings) {
  for (const ir::Step& step : program.steps) {
    if (step.kind == ir::StepKind::Ansible) return untrusted("recipes of Ansible");
    if (step.kind == ir::StepKind::Training || step.kind == ir::StepKind::Program)
      return untrusted("trainings and programs");
  }
  for (const ir::Node& node : program.nodes) {
    // Images name clouds, too; those that name none are refused when the run finds no cloud for the node.
    const bool has_image = !node.disks.empty() && !node.disks.front().image_urls.empty();
    const bool nowhere = node.cloud.empty() && settings.cloud.empty() && !has_image && node.softs.empty();
    if (nowhere)
      return Status(Code::Auth, node.address + ": names no cloud, and the default is this service's computer")
          .with_hint("name one of your cloud accounts in its deploy: deploy NAME 1 ACCOUNT");
    if (is_on_this_computer(*settings.host, node.cloud))
      return untrusted("nodes of the cloud '" + node.cloud + "'");
  }
  return {};
}

}  // namespace

Result<ir::Program> compile_document(const Settings& settings, const std::string& folder,
                                     const std::string& state, const Document& document) {
  // Its functions and modules read files while it is compiled.
  if (!settings.trusted && document.is_radl2()) return untrusted("programs of `radl 2`");
  driver::ProjectOptions options;
  options.files = {folder + "/next.radl"};
  options.state = state;
  if (Status saved = write_file_atomic(options.files.front(), document.text(), 0600); !saved.ok())
    return saved;
  driver::Project project;
  const Status loaded = driver::load_project(*settings.host, options, {}, project);
  std::error_code ignored;
  std::filesystem::remove(options.files.front(), ignored);
  if (!loaded.ok())
    return loaded.message().empty() ? Status(Code::Invalid, findings_of(project, folder)) : loaded;
  if (!settings.trusted)
    if (Status kept = check_untrusted(project.compiled.program, settings); !kept.ok()) return kept;
  return std::move(project.compiled.program);
}

std::vector<int> Infrastructure::ordinals_of(const std::string& system) const {
  std::vector<int> ordinals;
  for (const Machine& machine : machines_) {
    std::string of, rest;
    int ordinal = 0;
    if (!machine.gone && !machine.leaving && split_ordinal(machine.address, of, ordinal, rest) &&
        of == system)
      ordinals.push_back(ordinal);
  }
  std::ranges::sort(ordinals);
  return ordinals;
}

// To the machines that stay.
std::vector<driver::ScaleRequest> Infrastructure::scales_of(const std::set<std::string>& systems) const {
  std::vector<driver::ScaleRequest> scales;
  for (const std::string& system : systems) {
    driver::ScaleRequest scale;
    scale.system = system;
    scale.exactly = ordinals_of(system);
    scales.push_back(std::move(scale));
  }
  return scales;
}

// The document is compiled before it takes the place of the other.
Result<Infrastructure::Change> Infrastructure::change_locked(Document next,
                                                             std::vector<driver::ScaleRequest> scales,
                                                             const Order& order) {
  if (deleting_) return Status(Code::Conflict, "the infrastructure is being deleted");
  if (stopping_) return Status(Code::Cancelled, "the service stops");
  const driver::ProjectOptions options = project_options();
  auto program = compile_document(order.by, folder_, options.state, next);
  if (!program.ok()) return program.status();

  Change change;
  std::set<std::string> known;
  for (const Machine& machine : machines_) known.insert(machine.address);
  std::vector<std::string> wanted;
  for (const ir::Node& node : program->nodes)
    if (!known.contains(node.address)) wanted.push_back(node.address);
  for (const driver::ScaleRequest& scale : scales)
    for (const int ordinal : *scale.exactly) {
      const std::string address = fmt::format("{}[{}]", scale.system, ordinal);
      if (!known.contains(address)) wanted.push_back(address);
    }
  // A scale run compiles and applies the whole document; it requires an existing state.
  const bool whole = scales.empty() || next.text() != document_.text() || !has_state();
  const std::vector<Machine> machines_before = machines_;
  Document document_before = std::exchange(document_, std::move(next));
  for (const std::string& address : wanted) {
    machines_.push_back({int(machines_.size()), address});
    change.made.push_back(machines_.back());
  }
  failed_.clear();
  if (Status saved = save_locked(); !saved.ok()) {
    machines_ = machines_before;
    document_ = std::move(document_before);
    return saved;
  }

  auto progress = std::make_shared<Job::Progress>(wanted);
  change.launched = progress->launched.get_future().share();
  change.over = progress->over.get_future().share();
  progress->jobs = (whole ? 1 : 0) + scales.size();
  change.before = std::move(document_before);
  // A machine leaves by the run that scales its system, or by the one of the document that has it no more.
  std::map<std::string, std::vector<int>> leaving;
  for (const Machine& machine : machines_) {
    if (!machine.leaving) continue;
    const std::string of = machine.address.substr(0, machine.address.rfind('['));
    leaving[std::ranges::find(scales, of, &driver::ScaleRequest::system) != scales.end() ? of : ""].push_back(
        machine.number);
  }
  if (whole) enqueue_locked({Job::Kind::Apply, order, {}, progress, leaving[""]});
  for (driver::ScaleRequest& scale : scales) {
    std::vector<int> its = leaving[scale.system];
    enqueue_locked({Job::Kind::Apply, order, std::move(scale), progress, std::move(its)});
  }
  adding_ = adding_ || !wanted.empty();
  return change;
}

Result<Infrastructure::Change> Infrastructure::start(const Document& document, const Order& order) {
  std::lock_guard lock(mutex_);
  return change_locked(document, {}, order);
}

Result<Infrastructure::Change> Infrastructure::add(const Document& more, const Order& order) {
  std::lock_guard lock(mutex_);
  Document next = document_;
  auto deploys = next.add(more);
  if (!deploys.ok()) return deploys.status();
  std::vector<driver::ScaleRequest> scales;
  for (const Document::Deploy& deploy : *deploys) {
    if (!document_.has_deploy(deploy.system)) {
      next.deploy(deploy);
      continue;
    }
    driver::ScaleRequest scale;
    scale.system = deploy.system;
    scale.exactly = ordinals_of(deploy.system);
    int first = 0;  // above all that there ever were
    for (const Machine& machine : machines_) {
      std::string of, rest;
      int ordinal = 0;
      if (split_ordinal(machine.address, of, ordinal, rest) && of == deploy.system)
        first = std::max(first, ordinal + 1);
    }
    for (int i = 0; i < deploy.count; ++i) scale.exactly->push_back(first + i);
    scales.push_back(std::move(scale));
  }
  return change_locked(std::move(next), std::move(scales), order);
}

Result<Infrastructure::Change> Infrastructure::remove(const std::vector<int>& numbers, const Order& order) {
  std::lock_guard lock(mutex_);
  const std::vector<Machine> before = machines_;
  std::set<std::string> systems;
  for (const int number : numbers) {
    Machine& machine = machines_[size_t(number)];
    std::string of, rest;
    int ordinal = 0;
    if (!split_ordinal(machine.address, of, ordinal, rest))
      return Status(Code::Internal, machine.address + ": not the address of a machine");
    machine.leaving = true;
    systems.insert(of);
  }
  auto change = change_locked(document_, scales_of(systems), order);
  if (!change.ok()) machines_ = before;
  return change;
}

Result<Infrastructure::Change> Infrastructure::undo(const Change& change, const Order& order) {
  std::lock_guard lock(mutex_);
  const std::vector<Machine> before = machines_;
  std::set<std::string> systems;
  for (const Machine& machine : change.made) {
    machines_[size_t(machine.number)].leaving = true;
    const std::string of = machine.address.substr(0, machine.address.rfind('['));
    if (change.before.has_deploy(of)) systems.insert(of);
  }
  auto undone = change_locked(change.before, scales_of(systems), order);
  if (!undone.ok()) machines_ = before;
  return undone;
}

Result<Infrastructure::Change> Infrastructure::reconfigure(const Document* more, const Order& order) {
  std::lock_guard lock(mutex_);
  Document next = document_;
  if (more)
    if (Status redefined = next.reconfigure(*more); !redefined.ok()) return redefined;
  return change_locked(std::move(next), {}, order);
}

Result<Infrastructure::Change> Infrastructure::alter(const Machine& machine, const Document& more,
                                                     const Order& order) {
  std::lock_guard lock(mutex_);
  const std::string system = machine.address.substr(0, machine.address.rfind('['));
  if (const size_t count = ordinals_of(system).size(); count != 1)
    return Status(Code::Conflict,
                  fmt::format("the {} machines of system {} share its features", count, system))
        .with_hint("deploy each machine that is to be altered from a system of its own");
  Document next = document_;
  if (Status altered = next.alter(system, more); !altered.ok()) return altered;
  return change_locked(std::move(next), {}, order);
}

std::shared_future<Status> Infrastructure::destroy(const Order& order) {
  std::lock_guard lock(mutex_);
  if (deleting_) return destroyed_;
  deleting_ = true;
  for (Machine& machine : machines_) machine.leaving = false;  // their jobs are dropped
  auto progress = std::make_shared<Job::Progress>(std::vector<std::string>());
  progress->jobs = 1;
  destroyed_ = progress->over.get_future().share();
  for (Job& waiting : jobs_)
    waiting.progress->job_ended(Status(Code::Cancelled, "the infrastructure is deleted"));
  jobs_.clear();
  end_run_locked();
  enqueue_locked({Job::Kind::Destroy, order, {}, progress});
  return destroyed_;
}

Status Infrastructure::may_be_destroyed() const {
  std::lock_guard lock(mutex_);
  return adding_ ? Status(Code::Conflict, "machines are being added") : Status();
}

}  // namespace radl::serve
