#include "runtime/run/subscription.h"

#include <chrono>
#include <filesystem>

namespace radl {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::milliseconds kLookEvery{100};

}  // namespace

Result<std::unique_ptr<RunSubscription>> RunSubscription::open(const std::string& folder, const From& from) {
  std::unique_ptr<RunSubscription> made(new RunSubscription(folder, from.run.empty()));
  if (!from.run.empty()) {
    auto reader = EventReader::open(folder + "/" + from.run + ".jsonl", from.event);
    if (!reader.ok()) return std::move(reader).status();
    made->readers_.emplace(from.run, std::move(*reader));
    return made;
  }
  auto runs = kept_runs(folder);
  if (!runs.ok()) return std::move(runs).status();
  for (const KeptRun& run : *runs) {
    made->newest_ = run.id;
    if (run.state != KeptRun::State::Going) continue;
    auto reader = EventReader::open(run.path);
    if (reader.ok()) made->readers_.emplace(run.id, std::move(*reader));
  }
  return made;
}

// By name alone: reading all of them each time would be much. Names sort by time.
void RunSubscription::find_new() {
  std::error_code error;
  std::string newest = newest_;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    const std::string id = at->path().stem().string();
    if (at->path().extension() != ".jsonl" || id.starts_with('.') || id <= newest_) continue;
    auto reader = EventReader::open(at->path().string());
    if (reader.ok()) readers_.emplace(id, std::move(*reader));
    newest = std::max(newest, id);
  }
  newest_ = std::move(newest);
}

Result<std::optional<Event>> RunSubscription::next() {
  if (all_) find_new();
  for (auto& [id, reader] : readers_) {
    auto event = reader->next();
    if (!event.ok() || *event) return event;
  }
  std::erase_if(readers_, [](const auto& one) { return one.second->over(); });
  return std::optional<Event>();
}

bool RunSubscription::over() { return readers_.empty(); }

Result<std::optional<Event>> RunSubscription::wait(const Stop& stop) {
  while (true) {
    auto event = next();
    if (!event.ok() || *event || (!all_ && over())) return event;
    if (!stop.sleep(kLookEvery)) return event;
  }
}

}  // namespace radl
