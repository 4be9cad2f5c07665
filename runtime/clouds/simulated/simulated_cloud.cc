#include "runtime/clouds/simulated/simulated_cloud.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/clouds/simulated/design.h"
#include "runtime/clouds/simulated/prices.h"

namespace radl::simulated {
namespace {

std::string outcome_of(const Asked& asked) {
  switch (asked.answer) {
    case Asked::Answer::Accepted:
      return "accepted " + asked.id;
    case Asked::Answer::Refused:
      return "refused: " + asked.status.message();
    case Asked::Answer::Unknown:
      return "unknown: " + asked.status.message();
  }
  return "";
}

bool is_foreign(const Resource& resource) { return resource.others || resource.token.empty(); }

}  // namespace

// What one call meets on its way.
struct SimulatedCloud::Weather {
  long long number = 0;
  std::string kind, address;
  std::chrono::milliseconds there{0}, back{0};
  bool throttled = false, lost_before = false, lost_after = false, error = false, error_after = false;
};

SimulatedCloud::SimulatedCloud(Options options, Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      account_(options_.id.region, options_.faults, options_.seed) {}

Result<std::unique_ptr<SimulatedCloud>> SimulatedCloud::make(Options options, Clock& clock) {
  if (std::find(std::begin(kRegions), std::end(kRegions), options.id.region) == std::end(kRegions))
    return invalid(
        fmt::format("the simulated cloud has no region '{}'; it has eu and us", options.id.region));
  std::unique_ptr<SimulatedCloud> cloud(new SimulatedCloud(std::move(options), clock));
  bool is_new = true;
  if (const std::string& path = cloud->options_.file; !path.empty()) {
    auto file = ModelFile::open(path, cloud->options_.id.text(), cloud->account_);
    if (!file.ok()) return file.status();
    cloud->file_ = std::move(*file);
    cloud->account_.model().keep_changes();
    is_new = cloud->file_->is_new();
  }
  if (is_new) cloud->account_.settle_foreigners(cloud->now());
  if (Status kept = cloud->keep(); !kept.ok()) return kept;
  return cloud;
}

Status SimulatedCloud::keep() { return file_ ? file_->append(account_.take_changes()) : Status(); }

SimulatedCloud::Weather SimulatedCloud::draw_weather(const std::string& kind, const std::string& address) {
  std::lock_guard lock(mutex_);
  const Faults& faults = account_.faults();
  Draws& draws = account_.draws();
  Weather weather;
  weather.number = ++calls_made_;
  ++calls_[kind];
  weather.kind = kind;
  weather.address = address;
  auto half = [&] {
    double seconds = faults.jitter != 0 ? draws.around(faults.latency) : faults.latency;
    return std::chrono::milliseconds(static_cast<long long>(seconds * 500));
  };
  weather.there = half();
  weather.back = half();
  weather.throttled = draws.chance(faults.throttling);
  weather.lost_before = draws.chance(faults.lost_before);
  weather.lost_after = draws.chance(faults.lost_after);
  weather.error = draws.chance(faults.errors);
  weather.error_after = weather.error && draws.chance(0.5);
  return weather;
}

// In short pieces, so that a user who has had enough is heard. False: it was ended.
bool SimulatedCloud::pause(const Context& context, std::chrono::milliseconds time) {
  constexpr std::chrono::milliseconds kPiece{50};
  while (true) {
    if (context.stop.asked() || clock_.now() >= context.stop.deadline()) return false;
    if (time.count() <= 0) return true;
    clock_.sleep(std::min(time, kPiece));
    time -= kPiece;
  }
}

void SimulatedCloud::report(const Weather& weather, Call::Moment moment, std::string outcome) {
  if (options_.on_call)
    options_.on_call({moment, weather.number, weather.kind, weather.address, std::move(outcome)});
}

Asked SimulatedCloud::ask(const Context& context, const char* kind, const Order& order,
                          const std::function<Asked()>& work) {
  Weather weather = draw_weather(kind, order.address);
  report(weather, Call::Moment::Sent);
  // Before the request is sent, it cannot have had an effect; afterwards its outcome is unknown.
  if (!pause(context, weather.there)) return Asked::refused({Code::Cancelled, "not asked for: stopped"});
  Asked answer;
  if (weather.throttled) {
    answer = Asked::refused({Code::Retry, "too many requests; ask again later"});
  } else if (weather.lost_before) {
    answer = Asked::unknown({Code::Lost, "the connection broke"});
  } else if (weather.error && !weather.error_after) {
    answer = Asked::unknown({Code::Retry, "the cloud has an internal error"});
  } else {
    std::lock_guard lock(mutex_);
    answer = work();
    if (Status kept = keep(); !kept.ok()) answer = Asked::unknown(kept);
  }
  report(weather, Call::Moment::Done,
         outcome_of(answer) + (weather.lost_after || weather.error_after ? " (the answer is lost)" : ""));
  if (weather.lost_after) return Asked::unknown({Code::Lost, "the connection broke"});
  if (weather.error_after) return Asked::unknown({Code::Retry, "the cloud has an internal error"});
  if (weather.back.count() > 0 && !pause(context, weather.back))
    return Asked::unknown({Code::Cancelled, "the answer was not waited for"});
  return answer;
}

Asked SimulatedCloud::ask_create(const Context& context, const Order& order) {
  return ask(context, "create", order, [&] { return account_.create(context.infrastructure, order, now()); });
}

Asked SimulatedCloud::ask_update(const Context& context, const Order& order) {
  return ask(context, "update", order, [&] { return account_.update(order, now()); });
}

Asked SimulatedCloud::ask_power(const Context& context, const Order& order, Power power) {
  return ask(context, "power", order, [&] { return account_.power(order, power, now()); });
}

Asked SimulatedCloud::ask_destroy(const Context& context, const Order& order) {
  return ask(context, "destroy", order, [&] { return account_.destroy(order, now()); });
}

Status SimulatedCloud::take_over(const Context& context, const Order& order) {
  return ask(context, "mark", order, [&] { return account_.mark(context.infrastructure, order, now()); })
      .status;
}

Status SimulatedCloud::release(const Context& context, const Order& order) {
  return ask(context, "release", order, [&] { return account_.mark("", order, now()); }).status;
}

Result<std::set<std::string>> SimulatedCloud::infrastructures(const Context& context,
                                                              const std::string& name) {
  std::set<std::string> found;
  Status read = fetch_page(context, [&] {
    for (const auto& [id, resource] : account_.model().resources()) {
      const bool shown = seen_in_lists(resource, account_.model().now()).has_value();
      if (shown && is_tag_of(resource.infrastructure, name)) found.insert(resource.infrastructure);
    }
    return fmt::format("{} infrastructures of the name {}", found.size(), name);
  });
  if (!read.ok()) return read;
  return found;
}

// One call that only reads: it comes back whole or not at all.
Status SimulatedCloud::fetch_page(const Context& context, const std::function<std::string()>& work) {
  Weather weather = draw_weather("look", "");
  report(weather, Call::Moment::Sent);
  if (!pause(context, weather.there + weather.back)) return {Code::Cancelled, "stopped while looking"};
  Status failed;
  if (weather.throttled) {
    failed = {Code::Retry, "too many requests; ask again later"};
  } else if (weather.lost_before || weather.lost_after) {
    failed = {Code::Lost, "the connection broke"};
  } else if (weather.error) {
    failed = {Code::Retry, "the cloud has an internal error"};
  }
  std::string outcome = failed.message();
  if (failed.ok()) {
    std::lock_guard lock(mutex_);
    account_.model().pass(now());
    outcome = work();
    failed = keep();
  }
  report(weather, Call::Moment::Done, outcome);
  return failed;
}

Result<std::vector<Seen>> SimulatedCloud::look(const Context& context, const Query& query) {
  std::map<std::string, Seen> found;  // by id: what is named in more than one way is shown once
  const Model& model = account_.model();
  auto add = [&](const Resource* resource) {
    std::optional<Seen> seen = resource ? seen_in_lists(*resource, model.now()) : std::nullopt;
    if (!seen) return;
    // Tags of others mean nothing here.
    if (resource->infrastructure != context.infrastructure) seen->address = seen->token = "";
    found.insert_or_assign(resource->id, std::move(*seen));
  };
  const size_t page = static_cast<size_t>(options_.faults.page_size);
  auto in_batches = [&](const std::vector<std::string>& names, auto find) -> Status {
    for (size_t first = 0; first < names.size(); first += page) {
      Status read = fetch_page(context, [&] {
        size_t last = std::min(first + page, names.size());
        for (size_t i = first; i < last; ++i) add(find(names[i]));
        return fmt::format("{} named, {} seen so far", last - first, found.size());
      });
      if (!read.ok()) return read;
    }
    return {};
  };
  Status read = in_batches(query.ids, [&](const std::string& id) { return model.find(id); });
  if (!read.ok()) return read;
  read = in_batches(query.tokens, [&](const std::string& token) {
    return model.with_token(context.infrastructure, token);
  });
  if (!read.ok()) return read;
  // Page by page, each from behind the last id of the one before: between two of them anything may come and
  // go.
  bool more = query.everything;
  for (std::string last; more;) {
    read = fetch_page(context, [&] {
      const std::set<std::string>& ids = model.ids_of(context.infrastructure);
      auto id = ids.upper_bound(last);
      for (size_t n = 0; n < page && id != ids.end(); ++n, ++id) {
        add(model.find(*id));
        last = *id;
      }
      more = id != ids.end();
      return fmt::format("a page of the whole list, {} seen so far", found.size());
    });
    if (!read.ok()) return read;
  }
  std::vector<Seen> all;
  for (auto& [id, seen] : found) all.push_back(std::move(seen));
  return all;
}

Result<Survey> SimulatedCloud::survey(const Context& context, const ir::Program&) {
  Survey survey;
  survey.taken_at = clock_.wall_seconds();
  Status read = fetch_page(context, [&] {
    survey.facts = account_.survey(now());
    return survey.facts.dump();
  });
  if (!read.ok()) return read;
  return survey;
}

Status SimulatedCloud::can_make(const ir::Node& node, const DesignInput&) const {
  return check_node(options_.id, node);
}
Result<Design> SimulatedCloud::design(const DesignInput& input) const {
  return design_resources(options_.id, options_.faults.boot, input);
}
Impact SimulatedCloud::impact(const std::string& type, const Json& before, const Json& after) const {
  return impact_of(type, before, after);
}

std::chrono::milliseconds SimulatedCloud::settles_after() const {
  return std::chrono::milliseconds(static_cast<long long>(std::ceil(options_.faults.consistency * 1000)));
}

Standing SimulatedCloud::standing(const std::string& infrastructure) {
  std::lock_guard lock(mutex_);
  Model& model = account_.model();
  model.pass(now());
  Standing standing;
  std::map<std::string, int> count;
  for (const std::string& id : model.ids_of(infrastructure)) {
    const Resource& resource = *model.find(id);
    if (resource.leaving != 0 || resource.others) continue;
    standing.left.push_back(resource.address + " (" + id + ")");
    standing.price_per_hour.add(resource.price_per_hour);
    if (++count[resource.address] == 2) standing.doubled.push_back(resource.address);
  }
  standing.billed = model.billed(infrastructure);
  return standing;
}

std::vector<Seen> SimulatedCloud::all_of(const std::string& infrastructure) {
  std::lock_guard lock(mutex_);
  Model& model = account_.model();
  model.pass(now());
  std::vector<Seen> all;
  for (const std::string& id : model.ids_of(infrastructure)) {
    const Resource& resource = *model.find(id);
    if (resource.exists(model.now()) && !resource.others) all.push_back(seen_now(resource, model.now()));
  }
  return all;
}

std::vector<std::string> SimulatedCloud::infrastructures() {
  std::lock_guard lock(mutex_);
  account_.model().pass(now());
  std::set<std::string> names;
  for (const auto& [id, resource] : account_.model().resources())
    if (!is_foreign(resource) && resource.leaving == 0) names.insert(resource.infrastructure);
  return {names.begin(), names.end()};
}

bool SimulatedCloud::exists(const std::string& id) {
  std::lock_guard lock(mutex_);
  account_.model().pass(now());
  const Resource* resource = account_.model().find(id);
  return resource && resource->exists(account_.model().now());
}

bool SimulatedCloud::runs(const std::string& id) {
  std::lock_guard lock(mutex_);
  Model& model = account_.model();
  model.pass(now());
  const Resource* resource = model.find(id);
  return resource && resource->exists(model.now()) &&
         seen_now(*resource, model.now()).phase == ResourcePhase::Ready;
}

bool SimulatedCloud::was_destroyed(const std::string& id) {
  std::lock_guard lock(mutex_);
  return account_.was_destroyed(id);
}

std::map<std::string, long long> SimulatedCloud::calls() {
  std::lock_guard lock(mutex_);
  return calls_;
}

size_t SimulatedCloud::foreign_touched() {
  std::lock_guard lock(mutex_);
  return account_.foreign_touched();
}

size_t SimulatedCloud::foreign_left() {
  std::lock_guard lock(mutex_);
  const auto& all = account_.model().resources();
  return static_cast<size_t>(std::count_if(all.begin(), all.end(), [](const auto& entry) {
    return is_foreign(entry.second) && entry.second.leaving == 0;
  }));
}

double SimulatedCloud::last_time() {
  std::lock_guard lock(mutex_);
  return static_cast<double>(account_.model().now()) / 1000;
}

void SimulatedCloud::set_faults(const Faults& faults) {
  std::lock_guard lock(mutex_);
  options_.faults = faults;
  account_.set_faults(faults);
}

Status SimulatedCloud::change(const std::string& id, const std::function<void(Resource&)>& edit) {
  std::lock_guard lock(mutex_);
  account_.model().pass(now());
  const Resource* known = account_.model().find(id);
  if (!known || !known->exists(account_.model().now())) return not_found("there is no resource " + id);
  Resource changed = *known;
  edit(changed);
  account_.model().put(std::move(changed));
  return keep();
}

Status SimulatedCloud::tamper(const std::string& id, const Json& patch) {
  return change(id, [&](Resource& resource) { resource.spec.merge_patch(patch); });
}

Status SimulatedCloud::stop(const std::string& id) {
  return change(id, [&](Resource& resource) { resource.stopped = true; });
}

Result<std::string> SimulatedCloud::plant(const std::string& infrastructure, const std::string& address,
                                          const std::string& token) {
  std::lock_guard lock(mutex_);
  std::string id = account_.plant(infrastructure, address, token, now());
  if (Status kept = keep(); !kept.ok()) return kept;
  return id;
}

Status SimulatedCloud::remove(const std::string& id) {
  return change(id, [&](Resource& resource) {
    resource.leaving = resource.gone = resource.hidden = account_.model().now();
  });
}

}  // namespace radl::simulated
