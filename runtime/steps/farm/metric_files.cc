#include "runtime/steps/farm/metric_files.h"

#include <cmath>
#include <cstdlib>

#include "common/digest.h"
#include "runtime/steps/program/metrics.h"

namespace radl::farm {
namespace {

constexpr size_t kMostScalars = 10000;  // of a report

std::string scalars_text(const Json& scalars) {
  return scalars.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Status MetricFiles::take_events(File& file, std::vector<std::string>& reports) {
  auto taken = program::take_events(file.left, [&](const std::string& tag, double value) {
    if (std::isfinite(value) && (file.scalars.size() < kMostScalars || file.scalars.contains(tag)))
      file.scalars[tag] = value;
    if (tag != metric_) return;
    reports.push_back(scalars_text(file.scalars));
    file.scalars = Json::object();
  });
  file.damaged = !taken.ok();
  file.left.erase(0, taken.ok() ? *taken : file.left.size());
  return taken.status();
}

Result<std::vector<std::string>> MetricFiles::take(const std::string& attempt, const std::string& piece) {
  const size_t first = piece.find(' '), second = piece.find(' ', std::min(first, piece.size() - 1) + 1);
  if (first == 0 || first == piece.npos || second == piece.npos)
    return Status(Code::Corrupt, "is not a piece of a file");
  auto bytes = base64_decode(piece.substr(second + 1));
  if (!bytes) return std::move(bytes).status();
  const std::string key = piece.substr(0, first);
  File& file = files_[attempt][key];
  const uint64_t offset = std::strtoull(piece.c_str() + first, nullptr, 10);
  if (offset == 0) file = File();  // also if it was rewritten
  std::vector<std::string> reports;
  if (file.damaged || offset != file.size) return reports;
  file.size += bytes->size();
  file.left += *bytes;
  if (key[0] == 'e') {
    if (Status taken = take_events(file, reports); !taken.ok()) return taken;
    return reports;
  }
  size_t begin = 0;
  for (size_t end; (end = file.left.find('\n', begin)) != file.left.npos; begin = end + 1)
    reports.push_back(file.left.substr(begin, end - begin));
  file.left.erase(0, begin);
  return reports;
}

std::string MetricFiles::rest(const std::string& attempt) {
  Json all = Json::object();
  for (auto& [key, file] : files_[attempt]) {
    const Json line = key[0] == 'e' ? file.scalars : Json::parse(file.left, nullptr, false);
    if (line.is_object()) all.update(line);
  }
  files_.erase(attempt);
  return all.empty() ? "" : scalars_text(all);
}

}  // namespace radl::farm
