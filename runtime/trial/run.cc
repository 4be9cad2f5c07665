// One run: a life of an infrastructure, from the first apply to the last destroy, disturbed where the seed
// says so.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "common/files.h"
#include "common/text.h"
#include "runtime/trial/folder.h"
#include "runtime/trial/phase.h"
#include "runtime/trial/program.h"
#include "runtime/trial/truth.h"

namespace radl {
namespace {

using simulated::Draws;
using simulated::FaultInfo;
using simulated::Faults;

constexpr int kStormyAttempts = 12, kCalmAttempts = 6;

// How strong each fault is in this run: some are off, some are worse than usual.
Faults drawn_faults(const Faults& faults, Draws& draws) {
  Faults drawn = faults;
  for (const FaultInfo& fault : simulated::fault_table()) {
    double strength = draws.chance(0.25) ? 0 : draws.between(0.2, 2);
    double& value = drawn.*fault.value;
    if (fault.unit == FaultInfo::Unit::Chance) value = std::min(value * strength, 0.9);
    if (fault.unit == FaultInfo::Unit::Seconds) value = value * strength;
  }
  return drawn;
}

// The same cloud on a good day: as slow and as late as ever, but it fails in nothing.
Faults without_failures(const Faults& faults) {
  Faults calm = faults;
  for (const FaultInfo& fault : simulated::fault_table())
    if (fault.unit == FaultInfo::Unit::Chance) calm.*fault.value = 0;
  return calm;
}

class Life {
 public:
  Life(const Setting& setting, TrialRun& run)
      : setting_(setting),
        run_(run),
        draws_(mixed(setting.seed, 999)),
        owners_(mixed(setting.seed, 997)),
        besides_(mixed(setting.seed, 995)),
        calm_(without_failures(setting.faults)) {
    changed_ = changed_program(setting.subject.program, draws_, changes_);
    points_ = 20 + 12 * static_cast<uint64_t>(setting.subject.program.nodes.size() +
                                              setting.subject.program.steps.size() / 2);
  }

  Status live() {
    if (Status opened = open(); !opened.ok()) return opened;
    world_->tell("faults: " + simulated::faults_text(setting_.faults));
    world_->tell("the other file: " + join(changes_, ", "));
    const ir::Program* first = &setting_.subject.program;
    const ir::Program* second = &changed_;
    if (draws_.chance(0.3)) std::swap(first, second);
    if (owners_.chance(0.15)) take_radlcs_tags(*first);
    // Sometimes a first apply is given up in the middle, and all is destroyed.
    bool gives_up = draws_.chance(0.15);
    if (gives_up) {
      phase(apply_of(*first, true), false);
    } else {
      reach(*first);
      if (fine() && draws_.chance(0.4)) behind_its_back();
      if (fine()) reach(*second);
      const ir::Program* last = second;
      if (fine() && draws_.chance(0.3)) reach(*(last = first));
      if (fine() && owners_.chance(0.3)) copy_tags();
      if (fine() && owners_.chance(0.3)) release(*last);
      if (fine() && not_ours_.empty() && owners_.chance(0.2)) lose_state(*last);
      if (fine() && owners_.chance(0.2)) destroy_a_copy();
    }
    if (fine()) destroy();
    if (world_) run_.counts.seconds = world_->clock.wall_seconds() - kTrialBegins;
    if (world_) {
      Status removed = world_->remove_real_nodes(true);
      if (broken_.ok()) broken_ = std::move(removed);
    }
    return broken_;
  }

 private:
  bool fine() const { return run_.findings.empty() && broken_.ok(); }

  Status open() {
    if (world_) return {};
    Result<std::unique_ptr<TrialWorld>> world = TrialWorld::make(setting_, process_++, wall_);
    if (!world.ok()) return world.status();
    world_ = std::move(*world);
    return {};
  }

  void find(std::vector<Finding> findings) {
    for (Finding& finding : findings) {
      world_->tell(fmt::format("FOUND {}: {}", finding_name(finding.kind), finding.text));
      run_.findings.push_back(std::move(finding));
    }
  }

  Strike drawn_strike(double chance) {
    if (!draws_.chance(chance)) return {};
    Strike strike;
    // More often near the beginning, where most is open.
    double where = draws_.unit();
    strike.at = 1 + static_cast<long long>(where * where * static_cast<double>(points_));
    uint64_t how = draws_.below(setting_.kill ? 4 : 2);
    strike.how = how == 0 ? Strike::How::Stop : how == 1 ? Strike::How::StopNow : Strike::How::Kill;
    return strike;
  }

  TrialPhase apply_of(const ir::Program& program, bool first) {
    TrialPhase phase;
    phase.program = &program;
    phase.strike = drawn_strike(first ? 0.7 : 0.25);
    phase.refresh = tampered_.empty() ? !first && draws_.chance(0.5) : true;
    uint64_t on_error = draws_.below(10);
    if (on_error < 2) phase.on_error = OnError::Retry;
    if (on_error == 2) phase.on_error = OnError::Destroy;
    const ir::Program& subject = setting_.subject.program;
    if (besides_.chance(0.3)) phase.beside = besides_.chance(0.5) ? &subject : &changed_;
    phase.detach = besides_.chance(0.1);
    return phase;
  }

  // Runs it, and looks whether all is as it must be at any time.
  PhaseOutcome phase(const TrialPhase& phase, bool calm) {
    const Faults& faults = calm ? calm_ : setting_.faults;
    PhaseOutcome outcome;
    // Nothing retries immediately, and a cloud without capacity has some again later.
    world_->clock.sleep(std::chrono::seconds(calm ? 600 : draws_.below(300)));
    if (setting_.kill) {
      wall_ = world_->clock.wall_seconds();
      world_.reset();
      outcome = run_phase_in_child(setting_, process_++, wall_, faults, phase);
      wall_ = std::max(wall_, outcome.ended);
      broken_ = open();
      if (!broken_.ok()) return outcome;
    } else {
      world_->set_faults(faults);
      outcome = run_phase(*world_, setting_.subject, phase);
    }
    ++run_.counts.phases;
    run_.counts.calls += outcome.calls;
    run_.counts.killed += outcome.killed;
    run_.counts.interrupted += outcome.struck && !outcome.killed;
    run_.counts.failed += !outcome.status.ok() && !outcome.struck;
    if (outcome.crashed_by != 0)
      find({{Finding::Kind::Crashed,
             fmt::format("{}: the process ended by {}", phase.text(), outcome.crashed_by)}});
    if (outcome.restarted)
      find({{Finding::Kind::Untrue, "a training that ran was started again for other workers"}});
    find(findings_at_any_time(*world_));
    return outcome;
  }

  // Applies again and again, as a user does, until it is done.
  void reach(const ir::Program& program) {
    PhaseOutcome outcome;
    for (int attempt = 0; attempt < kStormyAttempts + kCalmAttempts && fine(); ++attempt) {
      bool calm = attempt >= kStormyAttempts;
      TrialPhase next = apply_of(program, attempt == 0);
      if (calm) next.strike = {}, next.refresh = true, next.on_error = OnError::Keep;
      if (calm) next.beside = nullptr, next.detach = false;
      outcome = phase(next, calm);
      if (!fine()) return;
      if (!outcome.status.ok()) continue;
      if (outcome.beside) continue;  // the other run may have left another file's things
      if (next.refresh) tampered_.clear();
      find(findings_after_apply(*world_, setting_.subject, program, tampered_));
      return;
    }
    if (fine())
      find({{Finding::Kind::Stuck,
             "apply comes to no end although the cloud is well: " + outcome.status.message()}});
  }

  void destroy() {
    PhaseOutcome outcome;
    for (int attempt = 0; attempt < kStormyAttempts + kCalmAttempts && fine(); ++attempt) {
      bool calm = attempt >= kStormyAttempts;
      TrialPhase next;
      next.kind = TrialPhase::Kind::Destroy;
      next.strike = calm ? Strike() : drawn_strike(attempt == 0 ? 0.7 : 0.25);
      outcome = phase(next, calm);
      if (!fine()) return;
      if (!outcome.status.ok()) continue;
      find(findings_after_destroy(*world_));
      check_what_is_not_ours(outcome);
      return;
    }
    if (fine())
      find({{Finding::Kind::Stuck,
             "destroy comes to no end although the cloud is well: " + outcome.status.message()}});
  }

  // The cloud that has it; nullptr: none.
  simulated::SimulatedCloud* cloud_with(const std::string& id) {
    for (simulated::SimulatedCloud* cloud : world_->all_clouds)
      if (cloud->exists(id)) return cloud;
    return nullptr;
  }

  // What the state has, on a good day.
  std::optional<Snapshot> recorded() {
    Result<std::unique_ptr<Store>> store = world_->open_store(OpenMode::Read);
    Result<Snapshot> snapshot = store.ok() ? (*store)->snapshot() : Result<Snapshot>(store.status());
    if (!snapshot.ok()) return std::nullopt;
    return std::move(*snapshot);
  }

  // A file whose tags are radlc's own is refused, or does no harm.
  void take_radlcs_tags(const ir::Program& program) {
    constexpr const char* kTags[] = {"radlc:infrastructure=mine", "stage=test,radlc:token=mine",
                                     "radlc:address=mine,Name=x"};
    const ir::Program tagged = with_tags(program, kTags[owners_.below(std::size(kTags))]);
    TrialPhase next;
    next.program = &tagged;
    const PhaseOutcome outcome = phase(next, true);
    if (outcome.status.ok() && fine())
      find(findings_after_apply(*world_, setting_.subject, tagged, tampered_));
  }

  // Somebody launches a machine of their own "like that one": with all of its tags, or with those alone that
  // say whose it is.
  void copy_tags() {
    simulated::SimulatedCloud& cloud = *world_->all_clouds[owners_.below(world_->all_clouds.size())];
    const std::vector<std::string> names = cloud.infrastructures();
    if (names.empty()) return;
    const std::vector<Seen> all = cloud.all_of(names.front());
    if (all.empty()) return;
    const Seen& seen = all[owners_.below(all.size())];
    const bool whole = owners_.chance(0.5);
    Result<std::string> id = cloud.plant(names.front(), seen.address, whole ? seen.token : "somebody's");
    broken_ = id.status();
    if (!broken_.ok()) return;
    not_ours_[{cloud.id().text(), *id}] = "is somebody's, with a copy of radlc's tags";
    to_be_listed_.insert(*id);
    world_->tell("BY HAND " + *id + " is launched with the tags of " + seen.id);
  }

  // `radlc state rm` of a machine, which keeps running; then the file is applied again, or not.
  void release(const ir::Program& program) {
    std::optional<Snapshot> snapshot = recorded();
    if (!snapshot) return;
    std::vector<const ResourceRecord*> nodes;
    for (const auto& [address, record] : snapshot->resources)
      if (record.is_node()) nodes.push_back(&record);
    if (nodes.empty()) return;
    const ResourceRecord& chosen = *nodes[owners_.below(nodes.size())];
    TrialPhase next;
    next.kind = TrialPhase::Kind::Release;
    next.address = chosen.address;
    if (!phase(next, true).status.ok()) return;
    not_ours_[{chosen.cloud, chosen.id}] = "was released by `state rm`";
    const std::optional<Snapshot> now = recorded();
    for (const std::string& need : chosen.needs) {  // resources that only it needs are released too
      if (!now || now->resources.count(need)) continue;
      const ResourceRecord& part = snapshot->resources.at(need);
      not_ours_[{part.cloud, part.id}] = "was released by `state rm`";
    }
    if (fine() && owners_.chance(0.5)) reach(program);
  }

  // The state's folder is gone: what exists is found by its tags, and nothing is created twice.
  void lose_state(const ir::Program& program) {
    const std::optional<Snapshot> before = recorded();
    if (!before || before->resources.empty()) return;
    std::error_code ignored;
    std::filesystem::remove_all(world_->state_directory(), ignored);
    world_->tell("BY HAND the state is lost");
    TrialPhase next;
    next.kind = TrialPhase::Kind::Rebuild;
    next.program = &program;
    const PhaseOutcome outcome = phase(next, true);
    if (!outcome.status.ok() && fine())
      find({{Finding::Kind::Stuck, "a lost state is not rebuilt: " + outcome.status.message()}});
    if (fine()) reach(program);
  }

  // `cp -r` of a project: destroying the copy must not destroy the original.
  void destroy_a_copy() {
    const std::optional<Snapshot> before = recorded();
    if (!before) return;
    const std::string copy = setting_.folder + "/copy";
    std::error_code error;
    std::filesystem::copy(world_->state_directory(), copy, std::filesystem::copy_options::recursive, error);
    if (error) return;
    TrialPhase next;
    next.kind = TrialPhase::Kind::Destroy;
    next.copy = copy;
    phase(next, true);
    for (const auto& [address, record] : before->resources) {
      simulated::SimulatedCloud* cloud = world_->cloud_named(record.cloud);
      if (cloud && cloud->was_destroyed(record.id))
        find({{Finding::Kind::Foreign,
               address + " (" + record.id + ") was destroyed by a copy of its state"}});
    }
    std::filesystem::remove_all(copy, error);
  }

  // After a destroy.
  void check_what_is_not_ours(const PhaseOutcome& outcome) {
    for (const auto& [where, why] : not_ours_) {
      simulated::SimulatedCloud* cloud = world_->cloud_named(where.first);
      if (cloud && cloud->was_destroyed(where.second))
        find({{Finding::Kind::Foreign, where.second + ", which " + why + ", was destroyed"}});
    }
    for (const std::string& id : to_be_listed_) {
      const bool listed =
          std::find(outcome.unowned.begin(), outcome.unowned.end(), id) != outcome.unowned.end();
      if (!listed && cloud_with(id))
        find({{Finding::Kind::Untrue,
               "destroy does not say that " + id + " carries the infrastructure's tag"}});
    }
  }

  // Somebody changes or removes something by hand.
  void behind_its_back() {
    simulated::SimulatedCloud& cloud = *world_->all_clouds[draws_.below(world_->all_clouds.size())];
    std::vector<std::string> names = cloud.infrastructures();
    std::vector<Seen> all = names.empty() ? std::vector<Seen>() : cloud.all_of(names.front());
    std::erase_if(all, [](const Seen& seen) { return seen.phase != ResourcePhase::Ready; });
    if (all.empty()) return;
    const Seen& seen = all[draws_.below(all.size())];
    std::string what;
    if (seen.type == "instance") {
      bool gone = draws_.chance(0.5);
      what = gone ? "is terminated" : "is stopped";
      broken_ = gone ? cloud.remove(seen.id) : cloud.stop(seen.id);
    } else if (seen.type == "security_group") {
      what = "gets another rule";
      broken_ = cloud.tamper(seen.id, {{"rules", {{{"protocol", "tcp"}, {"remote", 23}}}}});
    } else if (seen.type == "volume") {
      what = "is made larger";
      broken_ = cloud.tamper(seen.id, {{"size_bytes", seen.spec.value("size_bytes", 0.0) * 4}});
    } else {
      return;
    }
    tampered_.insert(seen.id);
    world_->tell("BY HAND " + seen.address + " (" + seen.id + ") " + what);
  }

  const Setting& setting_;
  TrialRun& run_;
  Draws draws_;
  Draws owners_;   // for changes of ownership; leaves other draws unchanged
  Draws besides_;  // for events while a job runs; likewise
  Faults calm_;
  // Resources that radlc must not touch: cloud and id -> why; and those that a destroy must list.
  std::map<std::pair<std::string, std::string>, std::string> not_ours_;
  std::set<std::string> to_be_listed_;
  std::vector<std::string> changes_;
  ir::Program changed_;
  uint64_t points_ = 0;
  uint64_t process_ = 0;
  double wall_ = kTrialBegins;  // where the next process begins
  std::set<std::string> tampered_;
  std::unique_ptr<TrialWorld> world_;
  Status broken_;  // the trial itself cannot continue
};

}  // namespace

Result<TrialRun> run_trial_in(const TrialFolder& folder, const TrialSubject& subject,
                              const TrialOptions& options, uint64_t seed, bool told) {
  Draws draws(mixed(seed, 998));
  std::string path = fmt::format("{}/{}", folder.path(), seed);
  if (Status made = make_directories(path, 0700); !made.ok()) return made;
  Setting setting{subject, path, seed, drawn_faults(options.faults, draws), options.kill, told, options.real};
  TrialRun run;
  run.seed = seed;
  Status lived;
  {
    Life life(setting, run);
    lived = life.live();
  }
  if (told) {
    Result<std::string> text = read_file(events_path(setting));
    if (text.ok())
      for (std::string_view line : split(*text, '\n')) run.events.emplace_back(line);
    if (!run.events.empty()) run.events.pop_back();
  }
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
  if (!lived.ok()) return std::move(lived).at(fmt::format("seed {}", seed));
  return run;
}

Result<TrialRun> run_trial(const TrialSubject& subject, const TrialOptions& options, uint64_t seed) {
  Result<std::unique_ptr<TrialFolder>> folder = TrialFolder::make();
  if (!folder.ok()) return folder.status();
  return run_trial_in(**folder, subject, options, seed, true);
}

}  // namespace radl
