// A folder that is gone with the test.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace radl::test {

class TemporaryFolder {
 public:
  // In memory where that is possible: most tests sync their files very often.
  enum class Place { Memory, Disk };
  explicit TemporaryFolder(Place place = Place::Memory) {
    bool memory = place == Place::Memory && ::access("/dev/shm", W_OK) == 0;
    std::string pattern = memory ? "/dev/shm/radl-test-XXXXXX"
                                 : (std::filesystem::temp_directory_path() / "radl-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string path(const std::string& below) const { return path_ + "/" + below; }

 private:
  std::string path_;
};

}  // namespace radl::test
