#include "runtime/steps/farm/reports.h"

#include <fmt/format.h>

#include "runtime/steps/farm/farm_parts.h"

namespace radl::farm {

void Reports::clear() {
  counts_.clear();
  files_.clear();
  bytes_ = 0;
}

Result<std::vector<Event>> Reports::take(const AgentLine& line, double now) {
  const std::string id = id_of(line.task, line.attempt);
  bytes_ += line.text.size();
  std::vector<std::string> texts;
  if (line.kind == AgentLine::Kind::Line) texts.push_back(line.text);
  if (line.kind == AgentLine::Kind::End) texts.push_back(files_.rest(id));
  if (line.kind == AgentLine::Kind::Piece) {
    auto taken = files_.take(id, line.text);
    if (!taken)
      return Status(taken.status().code(),
                    fmt::format("task {}: a file with metrics {}", line.task, taken.status().message()));
    texts = std::move(*taken);
  }
  std::vector<Event> events;
  for (const std::string& text : texts) {
    if (!text.starts_with("{")) continue;
    const int report = ++counts_[id];
    const Json values = numbers_of(mask_(text));
    if (!values.empty()) events.push_back(metric_event(line.task, line.attempt, report, values, now));
  }
  return events;
}

}  // namespace radl::farm
