// The folder for states of trials: in memory if possible, removed afterwards. Internal to
// runtime/trial.
#pragma once

#include <memory>
#include <string>

#include "runtime/trial/trial.h"

namespace radl {

class TrialFolder {
 public:
  static Result<std::unique_ptr<TrialFolder>> make();
  ~TrialFolder();
  TrialFolder(const TrialFolder&) = delete;
  TrialFolder& operator=(const TrialFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit TrialFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Runs one trial below that folder. `told`: with its events.
Result<TrialRun> run_trial_in(const TrialFolder& folder, const TrialSubject& subject,
                              const TrialOptions& options, uint64_t seed, bool told);
// Ok if simulated clouds can satisfy the program.
Status can_be_planned(const TrialFolder& folder, const TrialSubject& subject);

}  // namespace radl
