// Commands over a connection that an OpenSSH client holds open (ControlMaster), without a client process for
// each. Source: PROTOCOL.mux of OpenSSH, version 4, which is in OpenSSH 5.8 and later.
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
  std::string command;  // for the login's shell on the node
  std::string_view stdin_bytes;
  std::function<std::optional<std::string>()> more_stdin;  // as in ExecOptions
  Stop stop;                                               // until it is asked for
  Stop stop_running;                                       // from then on
  std::function<void(std::string_view piece, bool is_stderr)> on_output;
  // After so long without a word of it the node is asked for a sign of life; 0: never.
  std::chrono::milliseconds ask_after{0};
};

// Returns when the command's streams have ended, whatever its exit status, which is not given: the command
// has to say it. Unsupported: it has not begun (nobody serves the socket, or the node allows no further
// session). Lost: the connection went away, or does not answer. Timeout, Cancelled: `stop` came first. After
// these it may be running still.
Status mux_run(const std::string& socket, const MuxCommand& command);

// The process that serves the socket, which is of this user. Unsupported: nobody does.
Result<int> mux_master(const std::string& socket, const Stop& stop);

}  // namespace radl::ssh
