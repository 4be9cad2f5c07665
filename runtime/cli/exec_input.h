// Standard input of this process, passed on to commands on nodes.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "common/status.h"

namespace radl::cli {

// One command reads it as it comes. Several get the same bytes each: a temporary file keeps what not every
// command has read yet. If all commands run at once, reading pauses while the slowest is 64 MiB behind;
// otherwise the file keeps the whole input for the commands that start later.
class ExecInput {
 public:
  // As ExecOptions::more_stdin.
  using Source = std::function<std::optional<std::string>()>;

  ExecInput() = default;
  ~ExecInput();
  ExecInput(const ExecInput&) = delete;
  ExecInput& operator=(const ExecInput&) = delete;

  // For so many commands, of which `at_once` run at the same time.
  Status open(size_t commands, size_t at_once);
  // For one of them, until its last copy goes; empty unless open.
  Source source() const;
  // Why it could not be read or kept. Until then no source has ended, so that no command takes a part for the
  // whole.
  std::optional<Status> failure() const;

 private:
  struct Kept;
  class Reader;
  static void keep(Kept& kept);

  std::shared_ptr<Kept> kept_;  // null unless open
  std::thread reader_;          // of several commands
};

}  // namespace radl::cli
