// What the commands of radl-train share: one file a command, each adds itself to the parser and gives what to
// run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/output_file.h"
#include "common/status.h"
#include "common/stop.h"

namespace CLI {
class App;
}

namespace radl::engine::cli {

struct Context {
  std::string program;    // how it was called, for finding files beside it
  Stop stop;              // Ctrl-C or TERM
  bool terminal = false;  // standard error is one that can be drawn on
};

// Adds the command to the parser; gives what to run when it was chosen. The result is the exit code.
using Add = std::function<int()> (*)(CLI::App& app, Context& context);
struct Command {
  std::string_view group;
  Add add;
};
const std::vector<Command>& commands();

namespace train_command {
std::function<int()> add(CLI::App& app, Context& context);
}
namespace eval_command {
std::function<int()> add(CLI::App& app, Context& context);
}
namespace predict_command {
std::function<int()> add(CLI::App& app, Context& context);
}
namespace serve_command {
std::function<int()> add(CLI::App& app, Context& context);
}
namespace report_command {
std::function<int()> add(CLI::App& app, Context& context);
}
namespace convert_command {
std::function<int()> add(CLI::App& app, Context& context);
}
namespace convert_command {
std::function<int()> add_import(CLI::App& app, Context& context);
}
namespace inspect_command {
std::function<int()> add(CLI::App& app, Context& context);
}
namespace bench_command {
std::function<int()> add(CLI::App& app, Context& context);
}
namespace data_command {
std::function<int()> add(CLI::App& app, Context& context);
}

// Exit codes of docs/job.md.
inline constexpr int kDone = 0, kUserError = 1, kWorldError = 2, kInterrupted = 130;
int exit_code_of(const Status& status);
// One line on standard error; gives the exit code.
int fail(const Status& status);

// What --force of a command with `-o FILE` says about itself.
inline constexpr const char* kForce = "replace the file even if radl-train did not write it";
// The producer that files for other programs name near their beginning, ONNX and safetensors, and whether a
// file does.
inline constexpr const char* kProducer = "radl-train";
bool names_producer(std::string_view file);
// may_write_output() and write_output_file() (common/output_file.h), with the hint to say --force.
Status may_write(const std::string& path, const OutputRules& rules);
Status write_output(const std::string& path, std::string_view content, const OutputRules& rules);

// A line on standard error that is drawn again and again on a terminal (and seldom where there is none).
class Meter {
 public:
  explicit Meter(bool terminal) : terminal_(terminal) {}
  ~Meter();
  void bytes(std::string_view what, uint64_t done, uint64_t total);
  void line(const std::string& text);  // draws over the last one; without a terminal nothing
  void say(const std::string& text);   // a line that stays
  void clear();

 private:
  bool terminal_, drawn_ = false;
  SteadyClock::time_point last_{};
};

// "fetched  12%  20.1 MiB of 162.6 MiB"; without a total of 0 the bytes alone.
std::string progress_text(std::string_view what, uint64_t done, uint64_t total);

// When a line about something that takes long is due: at once, and then every five seconds.
class Beat {
 public:
  bool due();

 private:
  std::optional<SteadyClock::time_point> last_;
};

// "32x32x3"
Result<std::vector<int>> parse_shape(const std::string& text);

}  // namespace radl::engine::cli
