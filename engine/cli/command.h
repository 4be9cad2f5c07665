// Shared by the commands of radl-train. Each command has its own file, adds itself to the parser, and returns
// a function to run.
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
#include "engine/export/onnx_import.h"

namespace CLI {
class App;
}

namespace radl::engine::cli {

struct Context {
  std::string program;    // argv[0], used to find files beside the program
  Stop stop;              // Ctrl-C or TERM
  bool terminal = false;  // standard error is a terminal that supports redrawing
};

// Adds the command to the parser. Returns the function that runs it, whose result is the exit code.
using Add = std::function<int()> (*)(CLI::App& app, Context& context);
struct Command {
  std::string_view group;
  Add add;
  std::string_view example;  // a command line, for --help
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

namespace manual_command {
std::function<int()> add(CLI::App& app, Context& context);
}

// Exit codes of docs/progress-lines.md.
inline constexpr int kDone = 0, kUserError = 1, kWorldError = 2, kInterrupted = 130;
int exit_code_of(const Status& status);
// Prints one line on standard error. Returns the exit code.
int fail(const Status& status);

// Help text for --force of commands with `-o FILE`.
inline constexpr const char* kForce = "replace the file even if radl-train did not write it";
// The producer name near the beginning of exported files (ONNX and safetensors), and whether a file has
// it.
inline constexpr const char* kProducer = "radl-train";
bool names_producer(std::string_view file);
// may_write_output() and write_output_file() (common/output_file.h) with a hint to use --force.
Status may_write(const std::string& path, const OutputRules& rules);
Status write_output(const std::string& path, std::string_view content, const OutputRules& rules);

// A status line on standard error, redrawn on a terminal and printed rarely elsewhere.
class Meter {
 public:
  explicit Meter(bool terminal) : terminal_(terminal) {}
  ~Meter();
  void bytes(std::string_view what, uint64_t done, uint64_t total);
  void line(const std::string& text);  // replaces the last one; prints nothing without a terminal
  void say(const std::string& text);   // prints a permanent line
  void clear();

 private:
  bool terminal_, drawn_ = false;
  SteadyClock::time_point last_{};
};

// "fetched  12%  20.1 MiB of 162.6 MiB"; only the bytes if total is 0.
std::string progress_text(std::string_view what, uint64_t done, uint64_t total);

// Tells when a progress line of a long operation is due: immediately, and then every five seconds.
class Beat {
 public:
  bool due();

 private:
  std::optional<SteadyClock::time_point> last_;
};

// "32x32x3"
Result<std::vector<int>> parse_shape(const std::string& text);

// Options for what an ONNX file does not say of its input and classes.
struct OnnxFlags {
  std::string shape;
  std::vector<float> mean, deviation;
  std::vector<std::string> class_names;
  void add(CLI::App& command);
  // Invalid: an option is given although `model` is the folder of a trained model, which has its own.
  Result<exporter::OnnxInput> input(const std::string& model) const;
};

}  // namespace radl::engine::cli
