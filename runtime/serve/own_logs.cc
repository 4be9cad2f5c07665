// Logs of steps, trainings and programs, piece by piece.
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "runtime/driver/logs.h"
#include "runtime/driver/states.h"
#include "runtime/serve/own_api.h"
#include "runtime/state/store.h"

namespace radl::serve {
namespace {

using httpd::Answer;

constexpr size_t kLargestPiece = size_t{1} << 20;

// The logs of a node, system, step or job; "": all. None if nothing was created yet, or everything is gone.
Result<std::vector<driver::LogFile>> logs_of(const driver::Host& host, const Workspace& of,
                                             const std::string& name) {
  auto store = Store::open(of.state_place(), of.name(), OpenMode::Read, *host.world);
  if (store.status().code() == Code::NotFound) return std::vector<driver::LogFile>();
  if (!store.ok()) return store.status();
  auto state = (*store)->snapshot();
  if (!state.ok()) return state.status();
  return driver::log_files((*store)->log_directory(), driver::log_filter(name, *state));
}

// Where the last `lines` lines of a text begin.
size_t last_lines(const std::string& text, unsigned long long lines) {
  size_t at = text.size();
  for (unsigned long long i = 0; i <= lines && at > 0; ++i) {
    at = text.rfind('\n', at - 1);
    if (at == text.npos) return 0;
  }
  return at == 0 && text.front() != '\n' ? 0 : at + 1;
}

}  // namespace

Answer OwnApi::list_logs(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  auto logs = logs_of(*users_.of((*found)->owner()).host, **found, call.parameter("of"));
  if (!logs.ok()) return error_answer(logs.status());
  Json list = Json::array();
  for (const driver::LogFile& log : *logs) {
    struct stat about {};
    if (::stat(log.path.c_str(), &about) != 0) continue;  // it was rotated
    list.push_back({{"log", log.label}, {"bytes", about.st_size}, {"file", std::to_string(about.st_ino)}});
  }
  return json_answer({{"logs", std::move(list)}});
}

// Whole lines from byte `from` on, or the last `lines` of them.
Answer OwnApi::get_log(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  unsigned long long from = 0, lines = 0;
  for (auto& [name, into] : {std::pair<const char*, unsigned long long&>("from", from), {"lines", lines}}) {
    if (call.parameter(name).empty()) continue;
    auto number = whole_number(name, call.parameter(name));
    if (!number.ok()) return error_answer(number.status());
    into = *number;
  }
  auto logs = logs_of(*users_.of((*found)->owner()).host, **found, "");
  if (!logs.ok()) return error_answer(logs.status());
  const auto log = std::ranges::find(*logs, call.path[1], &driver::LogFile::label);
  struct stat about {};
  if (log == logs->end() || ::stat(log->path.c_str(), &about) != 0)
    return error_answer(404, "not_found", "there is no log " + call.path[1]);
  const auto size = static_cast<unsigned long long>(about.st_size);
  if (lines > 0) from = size > kLargestPiece ? size - kLargestPiece : 0;
  std::string text(from < size ? std::min(size_t(size - from), kLargestPiece) : 0, '\0');
  std::ifstream in(log->path, std::ios::binary);
  in.seekg(std::streamoff(from));
  in.read(text.data(), std::streamsize(text.size()));
  text.resize(size_t(std::max<std::streamsize>(in.gcount(), 0)));
  const size_t end = text.rfind('\n');  // what has no newline yet comes when it is whole
  if (end != text.npos)
    text.resize(end + 1);
  else if (text.size() < kLargestPiece)
    text.clear();
  const unsigned long long next = from + text.size();
  if (lines > 0) text.erase(0, last_lines(text, lines));
  return json_answer(
      {{"text", std::move(text)}, {"next", next}, {"bytes", size}, {"file", std::to_string(about.st_ino)}});
}

}  // namespace radl::serve
