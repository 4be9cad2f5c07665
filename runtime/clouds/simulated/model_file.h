// Stores an account in a file, change by change, so that a killed process loses nothing.
//
// One JSON value per line. Each change is appended with one write before its request is answered. An
// incomplete last line is ignored: the kill came before the change. Opening rewrites the file without
// obsolete entries.
#pragma once

#include <memory>
#include <string>

#include "common/status.h"
#include "runtime/clouds/simulated/account.h"

namespace radl::simulated {

class ModelFile {
 public:
  // Reads the file, if any, into `account`. Conflict: another process has it open. Invalid: the file belongs
  // to another cloud. Corrupt: malformed.
  static Result<std::unique_ptr<ModelFile>> open(const std::string& path, const std::string& cloud,
                                                 Account& account);
  ~ModelFile();
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;

  bool is_new() const { return is_new_; }
  Status append(const std::vector<Json>& changes);

 private:
  ModelFile(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  Status read(const std::string& cloud, Account& account);
  Status write_anew(const std::string& cloud, const Account& account);

  std::string path_;
  int lock_ = -1, file_ = -1;
  bool is_new_ = true;
};

}  // namespace radl::simulated
