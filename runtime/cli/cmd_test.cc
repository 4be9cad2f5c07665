#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/human.h"
#include "common/shell_quote.h"
#include "runtime/ansible/ansible_runner.h"
#include "runtime/catalog/catalog.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/project.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/test_farms.h"
#include "runtime/clouds/local/local_cloud.h"
#include "runtime/driver/machinery.h"
#include "runtime/net/ssh/target.h"
#include "runtime/steps/native_runner.h"
#include "runtime/trial/trial.h"

namespace radl::cli::test_command {
namespace {

using Json = nlohmann::json;

constexpr size_t kFindingsShown = 5;  // of one run

struct Options {
  ProjectOptions project;
  TrialOptions trial;
  std::string faults = "all";
  bool json = false;
  bool real_nodes = false;
};

constexpr int kRunsOfRealNodes = 5;

// Nodes of this computer, and the runners of recipes. A training is played.
class RealSite {
 public:
  explicit RealSite(const Environment& environment) {
    local::Options options = local::options_of(environment);
    options.network = local::NetworkChoice::Shared;
    cloud_ = local::make_cloud(options);
    parts_.environment = environment;
    parts_.cloud = cloud_.get();
    parts_.runners = {{ir::StepKind::Native, native_.get()}, {ir::StepKind::Ansible, ansible_.get()}};
    parts_.connect = [](const Json& attributes, const Context& context) -> Result<std::unique_ptr<Remote>> {
      auto target = ssh::target_of(attributes, ssh::key_places(context.environment, context.work_directory));
      if (!target.ok()) return std::move(target).status();
      return ssh::make_remote(*target);
    };
  }
  const RealParts& parts() const { return parts_; }

 private:
  std::unique_ptr<Cloud> cloud_;
  std::unique_ptr<StepRunner> native_ = make_native_runner(), ansible_ = make_ansible_runner();
  RealParts parts_;
};

// The command that shows one run again, with what happened in it.
std::string again(const Options& options, const ir::Program& program, uint64_t seed) {
  std::string words = "radlc test" + project_words(options.project);
  for (const std::string& input : options.project.inputs) {
    std::string name = input.substr(0, input.find('='));
    auto known = program.inputs.find(name);
    bool secret = known == program.inputs.end() || !ir::secrets_in(known->second).empty();
    words += " --input " + shell_word(secret ? name + "=..." : input);
  }
  for (const std::string& file : options.project.input_files) words += " --input-file " + shell_word(file);
  for (const std::string& folder : options.project.module_path)
    words += " --module-path " + shell_word(folder);
  if (options.faults != "all") words += " --faults " + shell_word(options.faults);
  if (options.trial.kill) words += " --kill";
  if (options.real_nodes) words += " --real-nodes";
  return words + " --runs 1 --seed " + std::to_string(seed);
}

void show_findings(const TrialRun& run) {
  for (size_t i = 0; i < std::min(run.findings.size(), kFindingsShown); ++i) {
    std::printf("    %s: %s\n", std::string(finding_name(run.findings[i].kind)).c_str(),
                shown(run.findings[i].text).c_str());
  }
  if (run.findings.size() > kFindingsShown)
    std::printf("    and %zu more\n", run.findings.size() - kFindingsShown);
}

void show_counts(const TrialCounts& counts) {
  std::printf("  %s applies and destroys, of which %s interrupted, %s killed, %s failed by a fault\n",
              grouped(static_cast<double>(counts.phases)).c_str(),
              grouped(static_cast<double>(counts.interrupted)).c_str(),
              grouped(static_cast<double>(counts.killed)).c_str(),
              grouped(static_cast<double>(counts.failed)).c_str());
  std::printf("  %s calls to the clouds, in %s days of their time\n",
              grouped(static_cast<double>(counts.calls)).c_str(),
              grouped(static_cast<double>(static_cast<long long>(counts.seconds / 86400))).c_str());
}

void show_report(const Options& options, const ir::Program& program, const TrialReport& report) {
  std::string runs = grouped(static_cast<double>(report.runs)) + (report.runs == 1 ? " run" : " runs");
  if (report.failed == 0) {
    std::printf(
        "%s: nothing is left, doubled, forgotten or billed, and the state was true after each command\n",
        runs.c_str());
  } else {
    std::string kinds;
    for (const auto& [kind, count] : report.findings)
      kinds += (kinds.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(finding_name(kind));
    std::printf("%s: %zu failed (%s)\n", runs.c_str(), report.failed, kinds.c_str());
  }
  show_counts(report.counts);
  for (const TrialRun& failure : report.failures) {
    std::printf("\n  seed %llu\n", static_cast<unsigned long long>(failure.seed));
    show_findings(failure);
    std::printf("    again: %s\n", shown(again(options, program, failure.seed)).c_str());
  }
}

Json findings_json(const TrialRun& run) {
  Json findings = Json::array();
  for (const Finding& finding : run.findings)
    findings.push_back({{"kind", finding_name(finding.kind)}, {"text", finding.text}});
  return findings;
}

Json counts_json(const TrialCounts& counts) {
  return {{"commands", counts.phases}, {"interrupted", counts.interrupted},
          {"killed", counts.killed},   {"failed", counts.failed},
          {"calls", counts.calls},     {"virtual_seconds", counts.seconds}};
}

Json farms_json(const std::vector<FarmTrials>& farms) {
  Json json = Json::array();
  for (const FarmTrials& one : farms) json.push_back(to_json(one));
  return json;
}

Json report_json(const Options& options, const ir::Program& program, const TrialReport& report,
                 const std::vector<FarmTrials>& farms) {
  Json findings = Json::object(), failures = Json::array();
  for (Finding::Kind kind : kFindingKinds) {
    auto counted = report.findings.find(kind);
    findings[std::string(finding_name(kind))] = counted == report.findings.end() ? 0 : counted->second;
  }
  for (const TrialRun& failure : report.failures) {
    failures.push_back({{"seed", failure.seed},
                        {"findings", findings_json(failure)},
                        {"again", again(options, program, failure.seed)}});
  }
  return {{"test", 1},
          {"runs", report.runs},
          {"failed", report.failed},
          {"findings", findings},
          {"counts", counts_json(report.counts)},
          {"farms", farms_json(farms)},
          {"failures", failures}};
}

void print(const Json& json) {
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

void show(const std::vector<FarmTrials>& farms) {
  for (const FarmTrials& one : farms) std::fputs(shown(text_of(one)).c_str(), stdout);
}

std::vector<FarmTrials> farms_of(const Options& options, const TrialSubject& subject) {
  return try_farms(subject.program, static_cast<size_t>(options.trial.runs), options.trial.seed,
                   options.trial.faults != simulated::Faults(), options.trial.stop);
}

bool any_fails(const std::vector<FarmTrials>& farms) {
  return std::any_of(farms.begin(), farms.end(), [](const FarmTrials& one) { return one.failed > 0; });
}

int run_one(const Session& session, const Options& options, const TrialSubject& subject) {
  auto run = run_trial(subject, options.trial, options.trial.seed);
  if (!run.ok()) return report(session, run.status());
  const auto farms = farms_of(options, subject);
  if (options.json) {
    print({{"test", 1},
           {"seed", run->seed},
           {"findings", findings_json(*run)},
           {"counts", counts_json(run->counts)},
           {"farms", farms_json(farms)},
           {"events", run->events}});
  } else {
    for (const std::string& event : run->events) std::printf("%s\n", shown(event).c_str());
    std::printf("\nseed %llu: %s\n", static_cast<unsigned long long>(run->seed),
                run->findings.empty() ? "nothing was found" : "failed");
    show_findings(*run);
    show_counts(run->counts);
    show(farms);
  }
  return run->findings.empty() && !any_fails(farms) ? kDone : kWorldError;
}

int run_many(const Session& session, Options& options, const TrialSubject& subject) {
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  options.trial.stop = cancellation.finishing();
  bool counts = session.terminal.is_terminal && !options.json;
  if (counts) {
    options.trial.progress = [&](size_t done) {
      std::fprintf(stderr, "\r%zu of %d", done, options.trial.runs);
      std::fflush(stderr);
    };
  }
  auto found = run_trials(subject, options.trial);
  if (counts) std::fputs("\r                    \r", stderr);
  if (!found.ok()) return report(session, found.status());
  const auto farms = farms_of(options, subject);
  if (options.json) {
    print(report_json(options, subject.program, *found, farms));
  } else {
    show_report(options, subject.program, *found);
    show(farms);
  }
  if (found->failed > 0 || any_fails(farms)) return kWorldError;
  return found->cancelled ? kInterrupted : kDone;
}

int run_test(const Session& session, Options& options) {
  auto faults = simulated::parse_faults(options.faults);
  if (!faults.ok()) return report(session, faults.status());
  options.trial.faults = *faults;
  auto project = load_project(session, options.project);
  if (!project.ok()) return report(session, project.status());
  const Catalog catalog = current_catalog(session.host);
  const Compiled& compiled = (*project)->compiled;
  std::vector<std::string> notes;
  auto program = program_for_trial({compiled.program, compiled.secrets, catalog, *session.host.world}, notes);
  for (const std::string& note : notes) std::fprintf(stderr, "note: %s\n", shown(note).c_str());
  if (!program.ok()) return report(session, program.status());
  TrialSubject subject{*program, compiled.secrets, catalog, *session.host.world};
  std::optional<RealSite> real;
  if (options.real_nodes) options.trial.real = &real.emplace(session.host.environment()).parts();
  // The final removal of real nodes must not be interrupted.
  Cancellation until_the_end;
  std::optional<SignalGuard> guard;
  if (options.real_nodes && options.trial.runs == 1) guard.emplace(until_the_end);
  return options.trial.runs == 1 ? run_one(session, options, subject) : run_many(session, options, subject);
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("test", "Run a file against simulated clouds that fail; creates nothing real");
  auto options = std::make_shared<Options>();
  add_project_options(*command, options->project);
  command->add_option("--runs", options->trial.runs, "number of runs; 1 shows all events of the run")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  command
      ->add_option("--seed", options->trial.seed, "seed of the first run; each further run uses the next one")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--faults", options->faults,
                   "faults: all, none, or names with values, for example 'consistency=30,lost_after=0.2' "
                   "(docs/testing.md)")
      ->type_name("LIST")
      ->capture_default_str();
  command->add_flag("--kill", options->trial.kill, "also kill real processes of radlc (SIGKILL)");
  command
      ->add_option("--jobs", options->trial.jobs,
                   "number of processes at the same time (default: one per core)")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--real-nodes", options->real_nodes,
                    "use local nodes as machines, and run the recipes on them (default: 5 runs)");
  command->add_flag("--json", options->json, "the report as JSON");
  return [options, command, &session] {
    if (options->real_nodes && command->count("--runs") == 0) options->trial.runs = kRunsOfRealNodes;
    return run_test(session, *options);
  };
}

}  // namespace radl::cli::test_command
