// Timestamps events, masks secrets in them, and passes them to the sinks one at a time. Internal to
// runtime/exec.
#pragma once

#include <mutex>
#include <vector>

#include "runtime/base/world.h"
#include "runtime/exec/events.h"

namespace radl {

class EventStream {
 public:
  EventStream(std::vector<EventSink*> sinks, Redactor redactor, Clock& clock)
      : sinks_(std::move(sinks)), redactor_(std::move(redactor)), clock_(clock) {}
  void emit(Event event);
  std::string mask(const std::string& text) const { return redactor_.mask(text); }
  nlohmann::json mask_json(const nlohmann::json& value) const { return redactor_.mask_json(value); }
  Status mask(const Status& status) const;

 private:
  std::vector<EventSink*> sinks_;
  Redactor redactor_;
  Clock& clock_;
  std::mutex mutex_;
};

}  // namespace radl
