// Runs commands over a connection held open by an OpenSSH client (ControlMaster), without a client process
// per command. Source: PROTOCOL.mux of OpenSSH, version 4, supported by OpenSSH 5.8 and later.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/status.h"
#include "common/stop.h"

namespace radl::ssh {

struct MuxCommand {
  std::string command;  // for the login shell on the node
  std::string_view stdin_bytes;
  std::function<std::optional<std::string>()> more_stdin;  // as in ExecOptions
  Stop stop;                                               // used until then
  Stop stop_running;                                       // used from then on
  std::function<void(std::string_view piece, bool is_stderr)> on_output;
  // Probes the node after this much silence; 0: never.
  std::chrono::milliseconds ask_after{0};
};

// Returns when the command's streams have ended. Does not report the exit status: the command must print it.
// Unsupported: it has not started (nothing serves the socket, or the node allows no further session). Lost:
// the connection broke or does not respond. Timeout, Cancelled: `stop` came first. After these three it may
// still run.
Status mux_run(const std::string& socket, const MuxCommand& command);

// The process, of this user, that serves the socket. Unsupported: none.
Result<int> mux_master(const std::string& socket, const Stop& stop);

}  // namespace radl::ssh
