#include "runtime/net/remote.h"

#include <fmt/format.h>

namespace radl {

Result<ExecResult> exec_for_data(Remote& remote, const std::string& shell_command,
                                 const ExecOptions& options) {
  auto result = remote.exec(shell_command, options);
  if (!result || !result->out_cut) return result;
  return invalid(
      fmt::format("the node's answer is longer than the {} bytes that are read of it", options.keep_bytes));
}

}  // namespace radl
