#include "runtime/trial/machines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/files.h"
#include "common/text.h"

namespace radl {
namespace {

constexpr int kBesideAt = 5;  // seconds after which others change things while a job runs

// Nothing is ever sent: the runner below does the steps. Every command succeeds, and no process of a job is
// found.
class NoConnection : public Remote {
 public:
  Result<ExecResult> exec(const std::string&, const ExecOptions&) override {
    ExecResult result;
    result.exit_status = 0;
    result.out = "radl-look\nhome /root\nwhole\n";
    return result;
  }
  Result<bool> put_file(const std::string&, const std::string&, unsigned, const Stop&) override {
    return not_here();
  }
  Result<bool> put_bytes(std::string_view, const std::string&, unsigned, const Stop&) override {
    return not_here();
  }
  Status get_file(const std::string&, const std::string&, const Stop&) override { return not_here(); }
  Result<RemoteFile> stat(const std::string&, const Stop&) override { return not_here(); }

 private:
  static Status not_here() { return {Code::Unsupported, "a simulated machine runs no commands"}; }
};

std::string ran_line(const std::string& step, const std::string& digest, const std::string& machine) {
  return step + "\t" + digest + "\t" + machine;
}

// What later steps and outputs may want to know of this one.
Json output_of(const ir::Program& program, const ir::Step& step) {
  Json output = Json::object();
  auto take = [&](const std::vector<std::string>& unknowns) {
    for (const std::string& name : unknowns) {
      size_t point = name.rfind('.');
      if (name.substr(0, point) == step.id) output[name.substr(point + 1)] = "simulated";
    }
  };
  for (const ir::Step& other : program.steps) take(ir::unknowns_in(other));
  for (const ir::Output& other : program.outputs) take(ir::unknowns_in(other.value));
  return output;
}

}  // namespace

SimulatedMachines::SimulatedMachines(CloudOf cloud_of, Clock& clock, uint64_t seed,
                                     const simulated::Faults& faults, Watch watch, std::string ran_path,
                                     std::unique_ptr<RealMachines> real)
    : cloud_of_(std::move(cloud_of)),
      clock_(clock),
      draws_(seed),
      faults_(faults),
      watch_(std::move(watch)),
      ran_path_(std::move(ran_path)),
      real_(std::move(real)) {
  if (ran_path_.empty()) return;
  Result<std::string> text = read_file(ran_path_);
  if (!text.ok()) return;  // nothing has run yet
  for (std::string_view line : split(*text, '\n')) ran_.emplace(line);
}

Status SimulatedMachines::runs(const ir::Node& node, const Json& attributes) {
  simulated::SimulatedCloud* cloud = cloud_of_(node);
  std::string id = attributes.value("vm_id", "");
  if (cloud && cloud->runs(id)) return {};
  return {Code::Retry, fmt::format("{} ({}) does not answer", node.address, id)};
}

Connector SimulatedMachines::connector() {
  return [this](const ir::Node& node, const Json& attributes,
                const Context& context) -> Result<std::unique_ptr<Remote>> {
    if (context.stop.asked()) return Status(Code::Cancelled, "stopped");
    clock_.sleep(std::chrono::milliseconds(static_cast<long long>(draws_.around(faults_.latency) * 1000)));
    if (Status up = runs(node, attributes); !up.ok()) return up;
    if (draws_.chance(faults_.login)) {
      Code code = draws_.chance(0.5) ? Code::Retry : Code::Lost;
      return Status(code, node.address + ": the login failed");
    }
    return std::unique_ptr<Remote>(std::make_unique<NoConnection>());
  };
}

Result<std::vector<Change>> SimulatedMachines::observe(const StepContext& context, const ir::Step& step,
                                                       const std::vector<NodeHandle>& nodes) {
  if (real_) {
    if (auto looked = real_->observe(context, step, nodes)) return std::move(*looked);
  }
  return std::vector<Change>();
}

// In pieces of a second: a machine may be taken away meanwhile, and a user may have had enough.
Status SimulatedMachines::take_time(const StepContext& context, const std::vector<NodeHandle>& nodes,
                                    double seconds) {
  const bool job = context.may_run != nullptr;
  for (int passed = 0; seconds > 0; --seconds, ++passed) {
    if (job) context.under_way();
    if (job && context.lets_go()) {
      left_[context.job_run] = seconds;
      return {kLeftRunning, "left running"};
    }
    if (job && passed == kBesideAt && beside) std::exchange(beside, nullptr)();
    if (context.context->stop.asked()) return {Code::Cancelled, "stopped"};
    if (clock_.now() >= context.context->stop.deadline()) return {Code::Timeout, "the step takes too long"};
    clock_.sleep(std::chrono::seconds(1));
  }
  for (const NodeHandle& node : nodes) {
    if (Status up = runs(*node.node, node.attributes); !up.ok())
      return {Code::Lost, node.address + ": the connection is lost"};
  }
  return {};
}

Result<StepOutcome> SimulatedMachines::run(const StepContext& context, const ir::Step& step,
                                           const std::vector<NodeHandle>& nodes) {
  watch_("before step " + step.id);
  for (const NodeHandle& node : nodes) {
    if (Result<Remote*> remote = node.connect(); !remote.ok()) return remote.status();
  }
  const bool job = ir::is_job(step.kind);
  bool fails = draws_.chance(faults_.steps), lost = draws_.chance(0.5);
  double seconds = job ? draws_.between(30, 300) : draws_.between(1, 15);
  if (auto left = left_.extract(context.job_run); job && !left.empty()) {
    seconds = left.mapped();
    ++joined_;
  }
  if (Status done = take_time(context, nodes, fails ? seconds / 2 : seconds); !done.ok()) return done;
  if (fails && lost) return Status(Code::Lost, step.id + ": the connection broke");
  if (fails) return Status(Code::Invalid, step.id + ": a command ended with status 1");
  StepOutcome outcome;
  outcome.changes.push_back({"all of it", "run", nullptr, nullptr, ""});
  outcome.output = output_of(*context.program, step);
  if (real_) {
    if (auto done = real_->run(context, step, nodes)) {
      if (!done->ok()) return std::move(*done);
      outcome = std::move(**done);
    }
  }
  for (const NodeHandle& node : nodes) {
    Status noted = note(ran_line(step.id, step.digest, node.attributes.value("vm_id", "")));
    if (!noted.ok()) return noted;
  }
  if (context.may_run) context.may_run->clear();
  watch_("step " + step.id);
  return outcome;
}

Status SimulatedMachines::note(const std::string& line) {
  if (!ran_.insert(line).second || ran_path_.empty()) return {};
  int file = ::open(ran_path_.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return errno_status(errno, ran_path_);
  Status written = write_all(file, line + "\n", ran_path_);
  ::close(file);
  return written;
}

bool SimulatedMachines::has_run(const std::string& step, const std::string& digest,
                                const std::string& machine) const {
  return ran_.count(ran_line(step, digest, machine)) != 0;
}

}  // namespace radl
