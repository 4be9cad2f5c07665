// Keeps an account in a file, change by change, so that a kill of the process leaves it as it was.
//
// One JSON value a line, each change appended with one write before its request is answered. A last line that
// is not whole is left out: the kill came before the change. Opening writes the file anew, without what is
// over.
#pragma once

#include <memory>
#include <string>

#include "common/status.h"
#include "runtime/clouds/simulated/account.h"

namespace radl::simulated {

class ModelFile {
 public:
  // Reads the file into `account` where there is one. Conflict: another process has it open; Invalid: the
  // file is of another cloud; Corrupt: it is no such file.
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
