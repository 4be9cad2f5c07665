// `radlc lsp`: the Language Server Protocol 3.17 over two file descriptors.
//
// Requests are answered in order on one thread; the compiler checks on another one, and its findings are
// published as they arrive. A check starts when nothing has changed for `diagnostics_delay`; no request waits
// for one.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace radl::lsp {

struct ServerOptions {
  std::string version;                             // sent to the client
  std::vector<std::string> module_path;            // as for the compiler
  std::map<std::string, std::string> environment;  // the process's: RADL_STDLIB, RADL_INPUT_name
  std::vector<std::string> image_schemes;          // as for the compiler
  std::chrono::milliseconds diagnostics_delay{150};
};

// Serves until the client sends `exit` or disconnects. Returns 0 after an orderly shutdown, else 1.
int serve(int in_fd, int out_fd, const ServerOptions& options);

}  // namespace radl::lsp
