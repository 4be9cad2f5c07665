// Many runs, in processes of their own: each has one thread, and may end by a fault of radlc's without taking
// the others along.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "common/files.h"
#include "runtime/trial/folder.h"
#include "runtime/trial/phase.h"
#include "runtime/trial/process_copy.h"
#include "runtime/trial/program.h"
#include "runtime/trial/real_machines.h"

namespace radl {
namespace {

using Json = nlohmann::json;

constexpr size_t kFailuresKept = 10;

Json counts_json(const TrialCounts& counts) {
  return {counts.phases, counts.interrupted, counts.killed, counts.failed, counts.calls, counts.seconds};
}

TrialCounts counts_from(const Json& json) {
  return {json.at(0), json.at(1), json.at(2), json.at(3), json.at(4), json.at(5)};
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string run_line(const TrialRun& run) {
  Json findings = Json::array();
  for (const Finding& finding : run.findings)
    findings.push_back({{"kind", static_cast<int>(finding.kind)}, {"text", finding.text}});
  return line_of({{"seed", run.seed}, {"findings", findings}, {"counts", counts_json(run.counts)}});
}

TrialRun run_from(const Json& json) {
  TrialRun run;
  run.seed = json.at("seed");
  run.counts = counts_from(json.at("counts"));
  for (const Json& finding : json.at("findings"))
    run.findings.push_back({static_cast<Finding::Kind>(finding.at("kind").get<int>()), finding.at("text")});
  return run;
}

// A process that executes runs one after another and reports each.
struct Worker {
  pid_t process = 0;
  int answers = -1;  // its reports
  std::string text;  // of a line that is not whole yet
  std::vector<uint64_t> seeds;
  size_t done = 0;  // of seeds
};

class Trials {
 public:
  Trials(const TrialSubject& subject, const TrialOptions& options, const TrialFolder& folder)
      : subject_(subject), options_(options), folder_(folder) {}

  Result<TrialReport> run() {
    int jobs = options_.jobs > 0 ? options_.jobs : static_cast<int>(std::thread::hardware_concurrency());
    workers_.resize(static_cast<size_t>(std::clamp(jobs, 1, std::max(options_.runs, 1))));
    for (int i = 0; i < options_.runs; ++i)
      workers_[static_cast<size_t>(i) % workers_.size()].seeds.push_back(options_.seed +
                                                                         static_cast<uint64_t>(i));
    Status status;
    for (Worker& worker : workers_)
      if (status.ok()) status = start(worker);
    while (status.ok() && !over() && !report_.cancelled) status = listen();
    for (Worker& worker : workers_) stop(worker);
    remove_what_was_cut_short();
    if (!status.ok()) return status;
    std::sort(report_.failures.begin(), report_.failures.end(),
              [](const TrialRun& a, const TrialRun& b) { return a.seed < b.seed; });
    if (report_.failures.size() > kFailuresKept) report_.failures.resize(kFailuresKept);
    return std::move(report_);
  }

 private:
  bool over() const {
    return std::all_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.process == 0; });
  }

  Status start(Worker& worker) {
    if (worker.done >= worker.seeds.size()) return {};
    auto copy = copy_process([&](int answers) {
      ::signal(SIGINT, SIG_IGN);  // Ctrl-C in a terminal reaches all; the first process decides
      work(worker, answers);
    });
    if (!copy.ok()) return copy.status();
    worker.process = copy->process;
    worker.answers = copy->answers;
    worker.text.clear();
    return {};
  }

  void work(const Worker& worker, int answers) const {
    for (size_t i = worker.done; i < worker.seeds.size(); ++i) {
      Result<TrialRun> run = run_trial_in(folder_, subject_, options_, worker.seeds[i], false);
      std::string line = run.ok() ? run_line(*run) : line_of({{"error", run.status().message()}});
      if (!write_all(answers, line, "pipe").ok() || !run.ok()) return;
    }
  }

  // Waits briefly for any process.
  Status listen() {
    std::vector<pollfd> ready;
    std::vector<Worker*> whose;
    for (Worker& worker : workers_) {
      if (worker.process == 0) continue;
      ready.push_back({worker.answers, POLLIN, 0});
      whose.push_back(&worker);
    }
    constexpr int kMoment = 100;  // ms
    ::poll(ready.data(), ready.size(), kMoment);
    report_.cancelled = !options_.stop.check().ok();
    for (size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].revents == 0) continue;
      if (Status heard = hear(*whose[i]); !heard.ok()) return heard;
    }
    return {};
  }

  Status hear(Worker& worker) {
    char buffer[65536];
    ssize_t got = ::read(worker.answers, buffer, sizeof buffer);
    if (got < 0) return errno == EINTR || errno == EAGAIN ? Status() : errno_status(errno, "pipe");
    if (got == 0) return ended(worker);
    worker.text.append(buffer, static_cast<size_t>(got));
    for (size_t end; (end = worker.text.find('\n')) != std::string::npos; worker.text.erase(0, end + 1)) {
      Json json = Json::parse(worker.text.substr(0, end), nullptr, false);
      if (json.is_discarded()) return internal_error("a trial's process told something else");
      if (json.contains("error")) return Status(Code::Internal, json.at("error"));
      count(run_from(json));
      ++worker.done;
    }
    return {};
  }

  // A process that ends before its work is done has met a fault of radlc's own: that is a finding, and the
  // next process goes on behind it.
  Status ended(Worker& worker) {
    int how = 0;
    while (::waitpid(worker.process, &how, 0) < 0 && errno == EINTR) continue;
    ::close(worker.answers);
    worker.process = 0;
    if (worker.done >= worker.seeds.size()) return {};
    TrialRun run;
    run.seed = worker.seeds[worker.done++];
    run.findings.push_back({Finding::Kind::Crashed,
                            WIFSIGNALED(how) ? fmt::format("radlc ended by signal {}", WTERMSIG(how))
                                             : fmt::format("radlc ended with status {}", WEXITSTATUS(how))});
    count(run);
    return start(worker);
  }

  // Real nodes outlive the process that made them.
  void remove_what_was_cut_short() const {
    if (!options_.real) return;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path(), ignored)) {
      if (entry.is_directory(ignored))
        (void)RealMachines(*options_.real, entry.path().string()).keep_only({});
    }
  }

  void stop(Worker& worker) {
    if (worker.process == 0) return;
    ::kill(worker.process, SIGKILL);
    while (::waitpid(worker.process, nullptr, 0) < 0 && errno == EINTR) continue;
    ::close(worker.answers);
    worker.process = 0;
  }

  void count(const TrialRun& run) {
    ++report_.runs;
    report_.counts.add(run.counts);
    std::set<Finding::Kind> kinds;
    for (const Finding& finding : run.findings) kinds.insert(finding.kind);
    for (Finding::Kind kind : kinds) ++report_.findings[kind];
    if (!run.findings.empty()) {
      ++report_.failed;
      report_.failures.push_back(run);
    }
    options_.progress(report_.runs);
  }

  const TrialSubject& subject_;
  const TrialOptions& options_;
  const TrialFolder& folder_;
  std::vector<Worker> workers_;
  TrialReport report_;
};

}  // namespace

Status can_be_planned(const TrialFolder& folder, const TrialSubject& subject) {
  Setting setting{subject, folder.path(), 1, simulated::Faults(), false, false, nullptr};
  Result<std::unique_ptr<TrialWorld>> world = TrialWorld::make(setting, 0);
  if (!world.ok()) return world.status();
  Snapshot nothing;
  nothing.name = subject.program.name;
  return plan_now(**world, subject, subject.program, nothing, nullptr).status();
}

std::string_view finding_name(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::Left:
      return "left";
    case Finding::Kind::Doubled:
      return "doubled";
    case Finding::Kind::Forgotten:
      return "forgotten";
    case Finding::Kind::Billed:
      return "billed";
    case Finding::Kind::Untrue:
      return "untrue";
    case Finding::Kind::Foreign:
      return "foreign";
    case Finding::Kind::Stuck:
      return "stuck";
    case Finding::Kind::Crashed:
      return "crashed";
  }
  return "unknown";
}

void TrialCounts::add(const TrialCounts& more) {
  phases += more.phases;
  interrupted += more.interrupted;
  killed += more.killed;
  failed += more.failed;
  calls += more.calls;
  seconds += more.seconds;
}

Result<ir::Program> program_for_trial(const TrialSubject& subject, std::vector<std::string>& notes) {
  ir::Program program = subject.program;
  leave_out_names(program, notes);
  TrialSubject ready{program, subject.secrets, subject.catalog, subject.host};
  Result<std::unique_ptr<TrialFolder>> folder = TrialFolder::make();
  if (!folder.ok()) return folder.status();
  if (Status planned = can_be_planned(**folder, ready); !planned.ok()) return planned;
  return program;
}

Result<TrialReport> run_trials(const TrialSubject& subject, const TrialOptions& options) {
  Result<std::unique_ptr<TrialFolder>> folder = TrialFolder::make();
  if (!folder.ok()) return folder.status();
  return Trials(subject, options, **folder).run();
}

}  // namespace radl
