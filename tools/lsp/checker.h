// Checks documents on a thread of its own, so that no request ever waits for the compiler.
//
// The owner submits jobs and takes results, both without waiting. A job replaces one of the same document
// that has not begun.
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
  FindingsPtr findings;   // null when the check broke off
  std::string broke_off;  // why: our own fault, for the log
  std::shared_ptr<const nlohmann::json> diagnostics;
};

class Checker {
 public:
  // `finished` is called on the checker's thread whenever there is something to take.
  explicit Checker(std::function<void()> finished);
  ~Checker();  // drops what has not begun and waits for the job at hand
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  void submit(CheckJob job);
  std::vector<CheckResult> take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace radl::lsp
