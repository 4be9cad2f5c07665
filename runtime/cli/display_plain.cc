#include <cstdio>
#include <mutex>

#include "runtime/cli/display.h"
#include "runtime/cli/event_lines.h"

namespace radl::cli {
namespace {

class PlainDisplay : public Display {
 public:
  PlainDisplay(const Plan& plan, const Terminal& terminal) : lines_(plan, terminal.color, false) {}

  void emit(const Event& event) override {
    std::lock_guard hold(mutex_);
    std::string line = lines_.line(event);
    if (line.empty()) return;
    std::fputs((line + "\n").c_str(), stdout);
    std::fflush(stdout);
  }

  void close() override {}

 private:
  std::mutex mutex_;
  EventLines lines_;
};

}  // namespace

std::unique_ptr<Display> plain_display(const Plan& plan, const Terminal& terminal) {
  return std::make_unique<PlainDisplay>(plan, terminal);
}

}  // namespace radl::cli
