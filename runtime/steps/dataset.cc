#include "runtime/steps/dataset.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "runtime/base/process.h"
#include "runtime/net/detached.h"

namespace radl {

namespace fs = std::filesystem;

namespace {

// Also where HOME is not set (cron, containers): never a folder that others share.
std::string home_folder() {
  if (const char* home = std::getenv("HOME"); home && *home == '/') return home;
  std::string buffer(size_t{1} << 14, '\0');
  passwd entry{}, *found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found) return entry.pw_dir;
  return "/nonexistent";
}

}  // namespace

std::string dataset_cache(const DatasetSource& source) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  std::string folder = cache && *cache ? std::string(cache) : home_folder() + "/.cache";
  // A part must not pass for the whole.
  return folder + "/radl/" + source.name + (source.source == "subset" ? "-subset" : "");
}

Result<std::string> find_engine() {
  if (const char* named = std::getenv("RADL_TRAIN"); named && *named) {
    if (access(named, X_OK) == 0) return std::string(named);
    return not_found(fmt::format("RADL_TRAIN names '{}', which cannot be run", named));
  }
  std::error_code error;
  fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& candidate :
       {here / "radl-train", here / "../libexec/radl/radl-train", here / "../lib/radl/radl-train"}) {
    if (access(candidate.c_str(), X_OK) == 0) return fs::weakly_canonical(candidate, error).string();
  }
  std::string in_path = find_program("radl-train");
  if (!in_path.empty()) return in_path;
  return Status(Code::NotFound,
                fmt::format("the training engine radl-train is neither beside this program ({}) nor in PATH",
                            here.string()))
      .with_hint("build it, or name it with RADL_TRAIN");
}

Result<std::string> fetch_dataset(const DatasetSource& source, const Context& context,
                                  const std::function<void(const std::string&)>& say) {
  static std::mutex one_at_a_time;  // several nodes may want the same data
  std::lock_guard lock(one_at_a_time);
  auto engine = find_engine();
  if (!engine) return engine.status();
  std::string folder = dataset_cache(source);
  ProcessRequest request;
  request.argv = {*engine, "data", source.name, "--directory", folder};
  if (source.source == "mirror")
    request.argv.insert(request.argv.end(), {"--mirror", source.mirror});
  else
    request.argv.insert(request.argv.end(), {"--source", source.source});
  request.deadline = std::chrono::hours(2);
  request.cancelled = context.cancelled;
  std::string held;
  request.on_output = [&](std::string_view piece, bool) {
    held += piece;
    for (size_t end; (end = held.find('\n')) != std::string::npos; held.erase(0, end + 1))
      say(held.substr(0, end));
  };
  auto ran = run_process(request);
  if (!ran) return std::move(ran).status().at(fmt::format("data set '{}'", source.name));
  if (ran->exit_status == 0) return folder;
  std::string why = ran->err;
  while (why.ends_with('\n')) why.pop_back();
  return Status(ran->exit_status == 130 ? Code::Cancelled : Code::Invalid,
                fmt::format("data set '{}': {}", source.name, why));
}

}  // namespace radl
