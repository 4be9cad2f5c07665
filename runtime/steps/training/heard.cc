#include "runtime/steps/training/heard.h"

#include "common/json_values.h"
#include "runtime/steps/training/tasks.h"

namespace radl::training {

void Heard::take(Json& news, const std::string& chief, std::optional<double> now) {
  const std::string event = json::text_of(news, "event"), task = json::text_of(news, "task");
  std::lock_guard lock(mutex_);
  if (event == "finished" && (task == chief || news.contains("test_accuracy"))) facts_.finished = news;
  for (const char* key : {"message", "note"})
    if (auto said = news.find(key); said != news.end() && said->is_string())
      *said = in_properties(said->get<std::string>());
  if (event == "failed") failures_[task] = json::text_of(news, "message");
  if ((event == "step" || event == "finished") && news.contains("sent_bytes_per_step"))
    for (const char* key :
         {"sent_bytes_per_step", "received_bytes_per_step", "round_trip_seconds", "link_bytes_per_second"})
      if (news.contains(key) && news[key].is_number()) facts_.exchange[key] = news[key];
  if (event == "dataset") facts_.dataset_note = json::text_of(news, "note");
  if (event == "step" && !facts_.first_step) facts_.first_step = now;
}

void Heard::took(const std::string& phase, double seconds) {
  std::lock_guard lock(mutex_);
  facts_.phases[phase] = seconds;
}

std::string Heard::failure_of(const std::string& task) const {
  std::lock_guard lock(mutex_);
  auto said = failures_.find(task);
  return said == failures_.end() ? "" : said->second;
}

RunFacts Heard::facts() const {
  std::lock_guard lock(mutex_);
  return facts_;
}

}  // namespace radl::training
