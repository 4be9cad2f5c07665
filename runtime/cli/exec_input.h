// Standard input of this process, passed on to commands on nodes.
#pragma once

#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "common/status.h"

namespace radl::cli {

// One command reads it as it comes. Several get the same bytes each: what has come is kept in a temporary
// file until the last of them has read it.
class ExecInput {
 public:
  // As ExecOptions::more_stdin.
  using Source = std::function<std::optional<std::string>()>;

  ExecInput() = default;
  ~ExecInput();
  ExecInput(const ExecInput&) = delete;
  ExecInput& operator=(const ExecInput&) = delete;

  // For so many commands.
  Status open(size_t commands);
  // For one of them; empty unless open.
  Source source() const;
  // Why it could not be kept. Until then no source has ended, so that no command takes a part for the whole.
  std::optional<Status> failure() const;

 private:
  struct Kept {
    int file = -1;
    std::atomic<long long> size{0};  // bytes
    std::atomic<int> error{0};       // errno
    std::atomic<bool> ended{false}, stop{false};
    ~Kept();
  };
  static void keep(Kept& kept);

  bool open_ = false;
  std::shared_ptr<Kept> kept_;  // null for one command
  std::thread reader_;
};

}  // namespace radl::cli
