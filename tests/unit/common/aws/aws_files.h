// AWS's files and environment as a test has them, in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "common/aws/settings.h"
#include "common/digest.h"
#include "common/files.h"

namespace radl::test {

class AwsFiles {
 public:
  AwsFiles() : home(testing::TempDir() + "aws-" + to_hex(random_bytes(6))) {
    (void)make_directories(home + "/.aws/sso/cache");
    variables["HOME"] = home;
    variables["AWS_EC2_METADATA_DISABLED"] = "true";
  }
  ~AwsFiles() { std::filesystem::remove_all(home); }
  AwsFiles(const AwsFiles&) = delete;
  AwsFiles& operator=(const AwsFiles&) = delete;

  void config(const std::string& text) { (void)write_file_atomic(home + "/.aws/config", text); }
  void credentials(const std::string& text) { (void)write_file_atomic(home + "/.aws/credentials", text); }
  void file(const std::string& name, const std::string& text) {
    (void)write_file_atomic(home + "/" + name, text);
  }
  Result<std::shared_ptr<const aws::Configuration>> load(const std::string& profile = {}) const {
    return aws::Configuration::load(
        [all = variables](const std::string& name) {
          const auto at = all.find(name);
          return at == all.end() ? "" : at->second;
        },
        profile);
  }

  const std::string home;
  std::map<std::string, std::string> variables;
};

}  // namespace radl::test
