// Which runs there are, from the begin and the end of their files.
#include <sys/file.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "common/json_values.h"
#include "common/text.h"
#include "runtime/run/event_log.h"

namespace radl {

namespace fs = std::filesystem;

namespace {

constexpr size_t kEnds = 64 * 1024;  // bytes of each end that are looked at

std::string part(const std::string& path, bool end) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<size_t>(std::max<std::streamoff>(file ? std::streamoff(file.tellg()) : 0, 0));
  const size_t from = end && size > kEnds ? size - kEnds : 0;
  std::string text(std::min(size - from, kEnds), '\0');
  file.seekg(static_cast<std::streamoff>(from));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

std::optional<Event> event_of(std::string_view line) {
  nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  Result<Event> event = event_from_json(json);
  return event.ok() ? std::optional<Event>(std::move(*event)) : std::nullopt;
}

void take_outcome(KeptRun& run, const nlohmann::json& data, const std::string& message) {
  if (!data.is_object()) return;
  auto count = [&](const char* name) {
    auto found = data.find(name);
    return found != data.end() && found->is_number_unsigned() ? found->get<size_t>() : 0;
  };
  run.state = json::flag_of(data, "ok") ? KeptRun::State::Done : KeptRun::State::Failed;
  run.code = json::text_of(data, "code");
  run.why = message;
  run.done = count("done");
  run.failed = count("failed");
  run.skipped = count("skipped");
}

// "20261122T181142Z-apply-1a2b3c" -> "apply".
std::string command_of(const std::string& id) {
  size_t first = id.find('-'), last = id.rfind('-');
  return first == id.npos || last <= first ? "" : id.substr(first + 1, last - first - 1);
}

KeptRun read_run(const std::string& path) {
  KeptRun run;
  run.path = path;
  run.id = fs::path(path).stem().string();
  run.command = command_of(run.id);
  run.state = KeptRun::State::Interrupted;
  auto reader = EventReader::open(path);
  // Asked before the end is read: what is written in between makes no finished run an interrupted one.
  const bool going = reader.ok() && !(*reader)->writer_ended();
  const std::string head = part(path, false);
  if (auto first = event_of(head.substr(0, head.find('\n')))) run.begun = first->time;
  std::string tail = part(path, true);
  for (std::string_view line : split(tail, '\n')) {
    std::optional<Event> event = event_of(line);
    if (!event) continue;
    take_event(run, *event);
  }
  if (going) run.state = KeptRun::State::Going;
  return run;
}

std::string ids_of(const std::vector<KeptRun>& runs) {
  std::string text;
  for (const KeptRun& run : runs) text += (text.empty() ? "" : ", ") + run.id;
  return text;
}

}  // namespace

void take_event(KeptRun& run, const Event& event) {
  run.last = std::max(run.last, event.sequence);
  run.heard = std::max(run.heard, event.time);
  if (event.kind == EventKind::RunStarted) run.state = KeptRun::State::Interrupted;  // until it says more
  if (event.kind == EventKind::RunFinished) take_outcome(run, event.data, event.message);
}

std::string_view kept_state_name(KeptRun::State state) {
  switch (state) {
    case KeptRun::State::Going:
      return "running";
    case KeptRun::State::Done:
      return "done";
    case KeptRun::State::Failed:
      return "failed";
    case KeptRun::State::Interrupted:
      return "interrupted";
  }
  return "unknown";
}

Result<std::vector<KeptRun>> kept_runs(const std::string& folder, size_t newest) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename();
    if (name.ends_with(".jsonl") && !name.starts_with('.')) names.push_back(std::move(name));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return Status(Code::Auth, folder + ": " + error.message());
  std::sort(names.begin(), names.end());
  std::vector<KeptRun> runs;
  for (size_t i = names.size() > newest ? names.size() - newest : 0; i < names.size(); ++i)
    runs.push_back(read_run(folder + "/" + names[i]));
  return runs;
}

Result<KeptRun> find_run(const std::string& folder, const std::string& id) {
  Result<std::vector<KeptRun>> runs = id.empty() ? kept_runs(folder, 1) : kept_runs(folder);
  if (!runs.ok()) return runs.status();
  if (runs->empty()) return not_found("no runs in " + folder);
  if (id.empty()) return runs->back();
  std::vector<KeptRun> fitting;
  for (KeptRun& run : *runs) {
    if (run.id.ends_with(id)) fitting.push_back(run);
  }
  if (fitting.empty()) return not_found("no run " + id + "; existing: " + ids_of(*runs));
  if (fitting.size() > 1) return invalid(id + " matches several runs: " + ids_of(fitting));
  return fitting.front();
}

}  // namespace radl
