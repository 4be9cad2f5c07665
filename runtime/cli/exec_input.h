// Passes this process's standard input to commands on nodes.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "common/status.h"

namespace radl::cli {

// A single command reads the input directly. Several commands get the same bytes each; a temporary file holds
// what some have not read yet. If all run at once, reading pauses while the slowest is 64 MiB behind.
// Otherwise the file keeps the whole input for commands that start later.
class ExecInput {
 public:
  // As ExecOptions::more_stdin.
  using Source = std::function<std::optional<std::string>()>;

  ExecInput() = default;
  ~ExecInput();
  ExecInput(const ExecInput&) = delete;
  ExecInput& operator=(const ExecInput&) = delete;

  // For `commands` commands, of which `at_once` run concurrently.
  Status open(size_t commands, size_t at_once);
  // A source for one of them, valid until its last copy is destroyed; empty unless open.
  Source source() const;
  // Why the input could not be read or stored. No source ends before this is set, so a command never mistakes
  // a part for the whole.
  std::optional<Status> failure() const;

 private:
  struct Kept;
  class Reader;
  static void keep(Kept& kept);

  std::shared_ptr<Kept> kept_;  // null unless open
  std::thread reader_;          // for several commands
};

}  // namespace radl::cli
