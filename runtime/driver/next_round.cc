#include "runtime/driver/next_round.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/json_values.h"
#include "compiler/ir/elastic_farm.h"
#include "compiler/resources/resource_schema.h"

namespace radl::driver {
namespace {

// Of preempted nodes, and of nodes for which their cloud has no capacity or no quota now.
constexpr RestartPolicy kReplacements{std::chrono::seconds(30), std::chrono::minutes(10),
                                      std::chrono::minutes(10), 8};
constexpr RestartPolicy kRefusals{
    std::chrono::seconds(60), std::chrono::minutes(5), std::chrono::hours(1), 4, std::nullopt, 1};

bool is_out_of_reach(const std::string& code) {
  return code == code_name(Code::Lost) || code == code_name(Code::Retry) || code == code_name(Code::Timeout);
}

}  // namespace

NextRound::NextRound(Clock& clock) : clock_(clock), replacements_(kReplacements), refusals_(kRefusals) {}

void NextRound::begin(const Plan& plan, const ir::Program& program, std::function<void()> attention) {
  std::lock_guard guard(mutex_);
  replacing_ |= !lost_.empty();
  actions_.clear();
  for (const Action& action : plan.actions) actions_[action.id] = &action;
  program_ = &program;
  attention_ = std::move(attention);
  lost_.clear();
  suspects_.clear();
  news_.clear();
  given_up_.clear();
  replacement_due_.reset();
  retry_due_.reset();
  change_due_.reset();
  failed_.clear();
  asked_.clear();
}

void NextRound::emit(const Event& event) {
  if (event.kind != EventKind::Metric && event.kind != EventKind::ActionFailed) return;
  if (!event.data.is_object()) return;
  std::lock_guard guard(mutex_);
  if (event.kind == EventKind::Metric) return take_metric(event);
  const auto found = actions_.find(event.id);
  if (found != actions_.end()) take_failure(*found->second, json::text_of(event.data, "code"));
}

void NextRound::take_metric(const Event& event) {
  const std::string what = json::text_of(event.data, "event");
  if (what == "interruption") lost_[event.node] = json::text_of(event.data, "time");
  if (what == "faulty") {
    if (const std::string other = others_on(event.node, event.id); !other.empty())
      return give_up(event.node, "is not replaced: " + other + " also uses it");
    lost_[event.node] = kFaulty;
    return schedule_replacement(event.node);
  }
  if (what == "resize") {
    const Json& nodes = json::list_of(event.data, "nodes");
    asked_[json::text_of(event.data, "system")] = nodes.get<std::vector<int>>();
    change_due_ = clock_.now();
  }
  if (what != "member_lost") return;
  if (lost_.contains(event.node)) return schedule_replacement(event.node);
  suspects_.insert(event.node);
  if (attention_) attention_();
}

void NextRound::take_failure(const Action& action, const std::string& code) {
  if (!action.is_step || !ir::is_job_type(action.step_kind)) {
    // What never existed is the user's to decide about; a node that is replaced is missed.
    const bool creates = action.verb == Verb::Create || action.verb == Verb::Replace;
    if (creates && replacing_ && code == code_name(Code::Quota)) schedule_retry(action.id);
    return;
  }
  const auto lost = std::find_if(action.nodes.begin(), action.nodes.end(),
                                 [&](const std::string& node) { return lost_.contains(node); });
  if (lost != action.nodes.end()) return schedule_replacement(*lost);
  if (!is_out_of_reach(code) || !restarts_elsewhere(action.id)) {
    failed_ = action.id;
    return;
  }
  suspects_.insert(action.nodes.begin(), action.nodes.end());
  if (attention_) attention_();
}

// A program without `retries` is not started a second time; a training resumes from its checkpoints.
bool NextRound::restarts_elsewhere(const std::string& job) const {
  const auto step = std::find_if(program_->steps.begin(), program_->steps.end(),
                                 [&](const ir::Step& one) { return one.id == job; });
  if (step == program_->steps.end()) return false;
  return step->kind == ir::StepKind::Training || step->program->value("retries", 0) > 0;
}

// What a node has besides a farm, which a replacement would take away; empty: nothing. Nobody else uses the
// nodes of an elastic farm.
std::string NextRound::others_on(const std::string& node, const std::string& farm) const {
  std::string other;
  for (const ir::Step& step : program_->steps) {
    if (step.id == farm && ir::has_elastic_farm(step)) return "";
    const bool here = std::find(step.nodes.begin(), step.nodes.end(), node) != step.nodes.end();
    const bool serves = std::any_of(step.resources.begin(), step.resources.end(),
                                    [](const ir::Resource& one) { return one.type == "service"; });
    if (here && step.id != farm && (ir::is_job(step.kind) || serves)) other = step.id;
  }
  return other;
}

void NextRound::say(const std::string& node, std::string text) {
  news_.emplace_back(node, std::move(text));
  if (attention_) attention_();
}

void NextRound::give_up(const std::string& node, std::string text) {
  if (given_up_.insert(node).second) say(node, std::move(text));
}

void NextRound::schedule_replacement(const std::string& node) {
  if (replacement_due_) return;
  const TimePoint now = clock_.now();
  const auto wait = replacements_.next(now);
  if (!wait)
    return give_up(node, fmt::format("was lost {} times in a row: it is not replaced again in this apply",
                                     replacements_.most_in_a_row + 1));
  replacement_due_ = now + *wait;
  if (wait->count() > 0) say(node, fmt::format("is replaced in {} s", wait->count() / 1000));
}

void NextRound::schedule_retry(const std::string& node) {
  if (retry_due_) return;
  const TimePoint now = clock_.now();
  const auto wait = refusals_.next(now);
  if (!wait) return give_up(node, "was refused again: it is not requested again in this apply");
  retry_due_ = now + *wait;
  say(node, fmt::format("was refused; radlc requests it again in {} s", wait->count() / 1000));
}

std::set<std::string> NextRound::suspects() const {
  std::lock_guard guard(mutex_);
  return suspects_;
}

void NextRound::found_gone(const std::set<std::string>& nodes) {
  std::lock_guard guard(mutex_);
  for (const std::string& node : nodes) {
    if (suspects_.erase(node) == 0) continue;
    lost_.emplace(node, std::nullopt);
    schedule_replacement(node);
  }
}

void NextRound::follow_scaling() {
  std::lock_guard guard(mutex_);
  if (!failed_.empty())
    return give_up("", "the nodes that `radlc scale` has chosen are not used: " + failed_ +
                           " has failed, and would run again");
  change_due_ = clock_.now();
}

void NextRound::refuse_scaling(const std::string& why) {
  std::lock_guard guard(mutex_);
  say("", "the nodes that `radlc scale` has chosen are not used yet: " + why);
}

std::optional<NextRound::TimePoint> NextRound::due() const {
  // A job that has failed by itself would run again in a round for other nodes.
  const auto change = failed_.empty() ? change_due_ : std::nullopt;
  std::optional<TimePoint> first;
  for (const auto& due : {replacement_due_, retry_due_, change})
    if (due && (!first || *due < *first)) first = due;
  return first;
}

bool NextRound::is_due() const {
  std::lock_guard guard(mutex_);
  return due() && clock_.now() >= *due();
}

std::optional<std::chrono::milliseconds> NextRound::wait() const {
  std::lock_guard guard(mutex_);
  if (!due()) return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due() - clock_.now());
  return std::max(left, std::chrono::milliseconds(0));
}

LostNodes NextRound::lost() const {
  std::lock_guard guard(mutex_);
  return lost_;
}

std::map<std::string, std::vector<int>> NextRound::asked() const {
  std::lock_guard guard(mutex_);
  return asked_;
}

std::vector<std::pair<std::string, std::string>> NextRound::take_news() {
  std::lock_guard guard(mutex_);
  return std::exchange(news_, {});
}

}  // namespace radl::driver
