#include "engine/cli/command.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>

namespace radl::engine::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"Training", train_command::add},
      {"Training", eval_command::add},
      {"Training", bench_command::add},
      {"Models", predict_command::add},
      {"Models", serve_command::add},
      {"Models", convert_command::add},
      {"Models", convert_command::add_import},
      {"Models", inspect_command::add},
      {"Data", data_command::add},
      {"Training", report_command::add},
  };
  return all;
}

int exit_code_of(const Status& status) {
  switch (status.code()) {
    case Code::Ok:
      return kDone;
    case Code::Cancelled:
      return kInterrupted;
    case Code::Invalid:
    case Code::NotFound:
    case Code::Exists:
    case Code::Corrupt:
    case Code::Unsupported:
      return kUserError;
    default:
      return kWorldError;
  }
}

int fail(const Status& status) {
  // A job file with several mistakes has one line for each.
  std::string text = status.text();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 13))
    text.insert(at + 1, "radl-train: ");
  fmt::print(stderr, "radl-train: {}\n", text);
  return exit_code_of(status);
}

Meter::~Meter() { clear(); }

void Meter::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void Meter::line(const std::string& text) {
  if (!terminal_ || seconds_since(last_) < 0.1) return;
  last_ = SteadyClock::now();
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
  drawn_ = true;
}

void Meter::say(const std::string& text) {
  clear();
  fmt::print(stderr, "{}\n", text);
  std::fflush(stderr);
}

void Meter::bytes(std::string_view what, uint64_t done, uint64_t total) {
  if (total > 0)
    line(fmt::format("{} {:3.0f}%  {} of {}", what, 100.0 * double(done) / double(total), human_bytes(done),
                     human_bytes(total)));
  else
    line(fmt::format("{} {}", what, human_bytes(done)));
}

std::string human_bytes(uint64_t bytes) {
  if (bytes >= 10'000'000'000) return fmt::format("{:.1f} GB", double(bytes) / 1e9);
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", double(bytes) / 1e6);
  if (bytes >= 1'000) return fmt::format("{:.1f} kB", double(bytes) / 1e3);
  return fmt::format("{} bytes", bytes);
}

std::string human_seconds(double seconds) {
  const auto s = int64_t(seconds + 0.5);
  if (s >= 3600) return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
  if (s >= 60) return fmt::format("{}m{:02}s", s / 60, s % 60);
  return fmt::format("{}s", s);
}

Result<std::vector<int>> parse_shape(const std::string& text) {
  std::vector<int> shape;
  const char *at = text.data(), *end = at + text.size();
  while (at < end) {
    int v = 0;
    const auto [next, error] = std::from_chars(at, end, v);
    if (error != std::errc() || v < 1 || v > 65536) break;
    shape.push_back(v);
    at = next;
    if (at < end && *at++ != 'x') break;
  }
  if (at != end || shape.size() != 3)
    return Status(Code::Invalid, "\"" + text + "\" is no shape")
        .with_hint("HEIGHTxWIDTHxCHANNELS, for example 32x32x3");
  return shape;
}

}  // namespace radl::engine::cli
