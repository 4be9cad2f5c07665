// The user's calibration (runtime/foresight/calibration.h) in a SQLite file of the user's data folder:
// profiles, runs of trainings and programs, rows of studies. radlc never sends it anywhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/foresight/calibration.h"
#include "runtime/state/database.h"

namespace radl {

// Which runs to read; a plan takes the newest of the work that it trains. Profiles are read whole, since
// those of other work say something as well.
struct CalibrationWanted {
  std::optional<std::string> work;  // foresight::Work::digest; nullopt: all, and runs of programs as well
  size_t newest_runs = 10000;
};

// No file: an empty calibration. Corrupt: it is no such file, or of a newer radlc.
Result<foresight::Calibration> load_calibration(const std::string& path,
                                                const CalibrationWanted& wanted = {});

// Runs of programs with this work or of this family, oldest first; both empty: all. At most the newest 1000.
// Errors as above.
Result<std::vector<foresight::ProgramRun>> load_program_runs(const std::string& path, const std::string& work,
                                                             const std::string& family);

class CalibrationStore {
 public:
  // The newest rows stay; the file has at most kMostPages of 4 KiB, so an import cannot fill the disk.
  static constexpr long long kMostRows = 10000, kMostPages = 8192;

  // Makes the file and its folder, for the user alone. Corrupt: as above.
  static Result<CalibrationStore> open(const std::string& path);

  // Replaces the profile of the same family, work, batch, machine and cores.
  Status add(const foresight::MeasuredProfile& profile);
  Status add(const foresight::TrainingRun& run);
  Status add(const foresight::ProgramRun& run);
  // All of it, or nothing; rows that are there already are not added again. How many were new.
  Result<size_t> add(const foresight::Calibration& calibration);
  // Removes those of a family or a study; nullopt: all. Returns their number.
  Result<size_t> forget(const std::optional<std::string>& what);

 private:
  explicit CalibrationStore(Database database) : database_(std::move(database)) {}
  Result<bool> add_study(const foresight::StudyRow& row);
  Result<bool> add_run(const foresight::TrainingRun& run);
  Result<bool> add_program(const foresight::ProgramRun& run);
  Result<long long> changes();
  Status drop_oldest();  // above kMostRows of each kind
  Database database_;
};

}  // namespace radl
