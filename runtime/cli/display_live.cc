#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <set>
#include <thread>

#include "common/json_values.h"
#include "runtime/cli/display.h"
#include "runtime/cli/event_lines.h"
#include "runtime/cli/shown.h"

namespace radl::cli {
namespace {

constexpr auto kRedrawEvery = std::chrono::milliseconds(120);
constexpr size_t kMaxLiveLines = 14;
constexpr size_t kMaxMembers = 8;  // of a program

// Cuts to `width` columns; the texts here are ASCII apart from what users name things.
std::string clipped(std::string text, int width) {
  size_t columns = 0, at = 0;
  for (; at < text.size() && columns < static_cast<size_t>(width); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xc0) != 0x80) ++columns;
  }
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
  text.resize(at);
  return text;
}

// A line of the region that is redrawn is one line of the screen.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return text;
}

class LiveDisplay : public Display {
 public:
  LiveDisplay(const Plan& plan, const Terminal& terminal)
      : progress_(plan), width_(terminal.width), color_(terminal.color), style_(terminal.color) {
    for (const ItemProgress& item : progress_.items()) name_width_ = std::max(name_width_, item.id.size());
    name_width_ = std::min<size_t>(name_width_, 32);
    thread_ = std::thread([this] { loop(); });
  }
  ~LiveDisplay() override { close(); }

  void emit(const Event& event) override {
    std::lock_guard hold(mutex_);
    progress_.emit(event);
    if (event.time > now_) now_ = event.time, now_at_ = std::chrono::steady_clock::now();
    if (event.kind == EventKind::Log || event.kind == EventKind::Leftover || event.kind == EventKind::Unowned)
      above_.push_back(event.id + " " + event.message);
    if (std::string notice = notice_text(event); !notice.empty()) above_.push_back(std::move(notice));
    if (event.kind == EventKind::Cancelled) {
      above_.push_back(json::number_of(event.data, "level", 1) >= 2
                           ? "stopping now"
                           : "stopping after the current actions; press Ctrl-C again to stop now");
    }
  }

  void close() override {
    {
      std::lock_guard hold(mutex_);
      if (closed_) return;
      closed_ = true;
    }
    wake_.notify_all();
    thread_.join();
    draw(true);
  }

 private:
  void loop() {
    std::unique_lock hold(mutex_);
    while (!closed_) {
      hold.unlock();
      draw(false);
      hold.lock();
      wake_.wait_for(hold, kRedrawEvery, [this] { return closed_; });
    }
  }

  double now() const {
    return now_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - now_at_).count();
  }

  void draw(bool last) {
    std::lock_guard hold(mutex_);
    std::string out;
    if (drawn_ > 0) out += fmt::format("\x1b[{}A", drawn_);
    out += "\r\x1b[J";
    for (const std::string& line : above_) out += shown(line, color_) + "\n";
    above_.clear();
    for (const ItemProgress& item : progress_.items()) {
      if (is_over(item) && reported_.insert(item.id).second) out += shown(finished_line(item), color_) + "\n";
    }
    drawn_ = 0;
    if (!last) {
      std::vector<std::string> lines = live_lines();
      for (const std::string& line : lines) out += clipped(one_line(shown(line)), width_ - 1) + "\n";
      drawn_ = lines.size();
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
    std::fflush(stdout);
  }

  static bool is_over(const ItemProgress& item) {
    return item.state == ItemProgress::State::Done || item.state == ItemProgress::State::Failed ||
           item.state == ItemProgress::State::Skipped;
  }

  std::string finished_line(const ItemProgress& item) const {
    std::string name = fmt::format("  {:<{}}", item.id, name_width_);
    switch (item.state) {
      case ItemProgress::State::Failed:
        return fmt::format("{}  {}failed{}   {}", name, style_.red(), style_.off(),
                           duration_text(item.seconds));
      case ItemProgress::State::Skipped:
        return fmt::format("{}  {}skipped{}  {}", name, style_.yellow(), style_.off(), item.message);
      default:
        return fmt::format("{}  {}done{}     {}", name, style_.green(), style_.off(),
                           duration_text(item.seconds));
    }
  }

  std::vector<std::string> live_lines() const {
    std::vector<std::string> lines;
    size_t running = 0;
    for (const ItemProgress& item : progress_.items()) {
      if (item.state != ItemProgress::State::Running && item.state != ItemProgress::State::Retrying) continue;
      if (++running <= kMaxLiveLines) add_running(item, lines);
    }
    if (running > kMaxLiveLines) lines.push_back(fmt::format("  ... and {} more", running - kMaxLiveLines));
    lines.push_back(fmt::format("{} {:3.0f}%  {} of {} done, {} running", bar_text(progress_.fraction(), 24),
                                progress_.fraction() * 100, progress_.count(ItemProgress::State::Done),
                                progress_.items().size(), running));
    return lines;
  }

  void add_running(const ItemProgress& item, std::vector<std::string>& lines) const {
    double since = item.started > 0 ? std::max(0.0, now() - item.started) : 0;
    auto training = progress_.trainings().find(item.id);
    std::string what = item.phase;
    if (item.state == ItemProgress::State::Retrying) what = "trying again: " + item.message;
    if (training != progress_.trainings().end()) {
      const TrainingProgress& figures = training->second;
      double part = figures.epochs > 0 ? figures.epoch / figures.epochs : 0;
      lines.push_back(
          fmt::format("  {:<{}}  {} {}", item.id, name_width_, bar_text(part, 16), training_text(figures)));
      for (const auto& [task, rate] : figures.rate_of_task) {
        lines.push_back(fmt::format("  {:<{}}  {} {} images/s", "", name_width_, task, grouped(rate)));
      }
      return;
    }
    lines.push_back(fmt::format("  {:<{}}  {:<9}{}", item.id, name_width_, duration_text(since), what));
    size_t shown_members = 0;
    for (const auto& [node, member] : progress_.members(item.id)) {
      if (++shown_members > kMaxMembers) break;
      lines.push_back(fmt::format("    {:<{}}{}", node, name_width_, member_text(member)));
    }
    if (shown_members > kMaxMembers)
      lines.push_back(fmt::format("    ... and {} more", progress_.members(item.id).size() - kMaxMembers));
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  Progress progress_;
  int width_;
  bool color_;
  Style style_;
  size_t name_width_ = 8;
  std::vector<std::string> above_;
  std::set<std::string> reported_;
  size_t drawn_ = 0;
  bool closed_ = false;
  double now_ = 0;
  std::chrono::steady_clock::time_point now_at_ = std::chrono::steady_clock::now();
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Display> live_display(const Plan& plan, const Terminal& terminal) {
  return std::make_unique<LiveDisplay>(plan, terminal);
}

}  // namespace radl::cli
