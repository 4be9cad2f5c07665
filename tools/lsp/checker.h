// Checks documents on its own thread, so that requests never wait for the compiler.
//
// The owner submits jobs and takes results, both without waiting. A job replaces a pending one for the same
// document.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/lsp/findings.h"

namespace radl::lsp {

struct CheckResult {
  AnalysisPtr analysis;   // the text that was checked
  FindingsPtr findings;   // null if the check failed
  std::string broke_off;  // an internal error, for the log
  std::shared_ptr<const nlohmann::json> diagnostics;
};

class Checker {
 public:
  // Calls `finished` on the checker's thread whenever a result is available.
  explicit Checker(std::function<void()> finished);
  ~Checker();  // drops pending jobs and waits for the current one
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  void submit(CheckJob job);
  std::vector<CheckResult> take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace radl::lsp
