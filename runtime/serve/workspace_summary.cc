// What a workspace is now: a row of the list, and the receipt of its destroy.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "common/files.h"
#include "common/guarded.h"
#include "runtime/base/world.h"
#include "runtime/serve/workspace.h"
#include "runtime/state/place.h"

namespace radl::serve {
namespace {

constexpr size_t kLargestReceipt = size_t{16} << 20;

// When a file was written last, and its size; "-" if there is none.
std::string stamp_of(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return "-";
  return fmt::format("{}.{}:{}", about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_size);
}

// What exists, in a row of the list.
Json row_of(const Snapshot& snapshot) {
  MoneySum price;
  size_t nodes = 0, failed = 0, jobs = 0;
  double since = 0;
  Json resources = Json::array();
  for (const auto& [address, resource] : snapshot.resources) {
    nodes += resource.is_node();
    price.add(resource.price_per_hour);
    if (since == 0 || resource.created_at < since) since = resource.created_at;
    resources.push_back({{"price_per_hour", resource.price_per_hour}, {"since", resource.created_at}});
  }
  for (const auto& [id, step] : snapshot.steps) {
    failed += step.status == StepStatus::Failed;
    jobs += step.kind == "training" || step.kind == "program";
  }
  return {{"nodes", nodes},
          {"resources", snapshot.resources.size()},
          {"failed", failed},
          {"jobs", jobs},
          {"since", since},
          {"price_per_hour", price},
          {"each", resources},
          {"steps", snapshot.steps.size()},
          {"interrupted", snapshot.interrupted()}};
}

}  // namespace

Result<Snapshot> Workspace::snapshot() const {
  return driver::read_snapshot(*settings_.host, state_place(), name_);
}

// A list of many must not ask the bucket about each: once for each state of its runs, and every 15 s.
std::string Workspace::bucket_stamp() const {
  std::lock_guard lock(mutex_);
  return fmt::format("{}:{}:{}:{}", runs_.empty() ? "" : runs_.back().id, queue_.size(), active_.size(),
                     static_cast<long long>(settings_.host->world->clock.wall_seconds() / 15));
}

Json Workspace::summary() const {
  const std::string place = state_place(), database = place + "/" + name_ + "/state.db";
  const bool in_bucket = is_bucket_place(place);
  Json row;
  {
    std::lock_guard lock(facts_mutex_);
    const std::string stamp = in_bucket ? bucket_stamp() : stamp_of(database) + stamp_of(database + "-wal");
    if (facts_.stamp != stamp) {
      const Status read = guarded([&]() -> Status {
        auto now = snapshot();
        if (now.ok()) facts_.row = row_of(*now);
        return now.status();
      });
      if (!read.ok()) facts_.row = Json{{"unreadable", read.text()}};
      facts_.stamp = read.ok() ? stamp : std::string();
    }
    row = facts_.row;
  }
  const double now = settings_.host->world->clock.wall_seconds();
  MoneySum so_far;
  for (const Json& one : row.value("each", Json::array())) {
    Money part = one.at("price_per_hour").get<Money>();
    part.micros = int64_t(double(part.micros) * std::max(now - one.at("since").get<double>(), 0.0) / 3600);
    so_far.add(part);
  }
  row.erase("each");
  row["cost_so_far"] = so_far;
  std::lock_guard lock(mutex_);
  const bool exists = row.value("resources", 0) > 0;
  std::string state = exists ? "ready" : runs_.empty() ? "draft" : "empty";
  if (row.contains("unreadable")) state = "unknown";
  if (!runs_.empty()) {
    const auto unfinished = std::ranges::find_if(runs_.rbegin(), runs_.rend(),
                                                 [](const WorkspaceRun& run) { return !run.over(); });
    // A scale beside an apply may be asked later, and end earlier.
    const WorkspaceRun& last =
        unfinished != runs_.rend() ? *unfinished : *std::ranges::max_element(runs_, {}, &WorkspaceRun::ended);
    if (!last.over())
      state = last.command == "destroy" ? "deleting" : "working";
    else if (last.state == WorkspaceRun::State::Failed)
      state = "failed";
    else if (!exists && last.command == "destroy")
      state = "destroyed";
    row["last_run"] = last.id;
  }
  row["id"] = id_;
  row["name"] = name_;
  row["owner"] = owner_;
  row["created"] = created_;
  row["state"] = state;
  return row;
}

std::optional<Json> Workspace::receipt() const {
  auto text = read_file(folder_ + "/receipt.json", kLargestReceipt);
  if (!text.ok()) return {};
  Json json = Json::parse(*text, nullptr, false);
  return json.is_discarded() ? std::nullopt : std::optional(std::move(json));
}

}  // namespace radl::serve
