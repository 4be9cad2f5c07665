// Base of radlc's commands: each has its own file and adds itself to the parser.
//
// A command parses flags, calls a library, renders the result, and returns the exit code. All other logic
// belongs elsewhere.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "runtime/driver/host.h"

namespace CLI {
class App;
}

namespace radl::cli {

using namespace driver;  // commands render the driver's values and use its names

// docs/exit-codes: `plan --detailed-exitcode` and `fmt --check` state their own.
enum Exit : int {
  kDone = 0,
  kUserError = 1,   // wrong file or flags, or a declined question
  kWorldError = 2,  // a cloud, machine, disk or step failed
  kInterrupted = 130,
};

// Terminal capabilities, detected once by main.
struct Terminal {
  bool is_terminal = false;  // standard output
  bool can_ask = false;      // standard input and output are terminals and CI is not set
  bool color = false;        // NO_COLOR > --no-color > CLICOLOR_FORCE > is_terminal and TERM != dumb
  int width = 100;
};

struct Session {
  Host host;  // this process; set by main
  Terminal terminal;
  bool no_color = false;
  std::string server;  // --server: run the command there (service_commands.h); empty: here
  // Large objects that are no longer used. They are freed when the process exits, which is faster.
  mutable std::vector<std::shared_ptr<const void>> kept;

  template <class T>
  std::shared_ptr<T> keep() const {
    auto made = std::make_shared<T>();
    kept.push_back(made);
    return made;
  }
};

// Adds a subcommand to `app`. Returns the function to call if the user chose it.
struct Command {
  std::string_view name;
  std::string_view group;  // heading in `radlc --help`
  std::function<int()> (*add)(CLI::App& app, Session& session);
  std::string_view example;  // a command line that works, for its --help
};

const std::vector<Command>& commands();

// Prints "error: ..." and the hint on standard error. Returns the exit code for the status code.
int report(const Session& session, const Status& status);

// "\x1b[1m" and so on; "" if color is off.
struct Style {
  explicit Style(bool on) : on_(on) {}
  std::string_view bold() const { return on_ ? "\x1b[1m" : ""; }
  std::string_view dim() const { return on_ ? "\x1b[2m" : ""; }
  std::string_view red() const { return on_ ? "\x1b[31m" : ""; }
  std::string_view green() const { return on_ ? "\x1b[32m" : ""; }
  std::string_view yellow() const { return on_ ? "\x1b[33m" : ""; }
  std::string_view blue() const { return on_ ? "\x1b[34m" : ""; }
  std::string_view off() const { return on_ ? "\x1b[0m" : ""; }

 private:
  bool on_;
};

}  // namespace radl::cli
