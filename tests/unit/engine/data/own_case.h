// What the tests of a user's own datasets share: a folder of their own, small images, archives.
#pragma once

#include <archive.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/digest.h"
#include "common/files.h"
#include "engine/data/image.h"
#include "tests/support/archive_members.h"

namespace radl::engine::data {

// A folder with a user's cache of its own.
struct OwnCase : testing::Test {
  std::string path = testing::TempDir() + "own-" + to_hex(random_bytes(6));
  OwnCase() {
    std::filesystem::create_directories(path);
    ::setenv("XDG_CACHE_HOME", (path + "/cache").c_str(), 1);
  }
  ~OwnCase() override { std::filesystem::remove_all(path); }

  std::string put(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(path + "/" + name).parent_path());
    EXPECT_TRUE(write_file_atomic(path + "/" + name, bytes).ok());
    return path + "/" + name;
  }
  static std::string png(int height, int width, uint8_t value, int channels = 3) {
    return *encode_png(height, width, channels,
                       std::vector<uint8_t>(size_t(height) * size_t(width) * size_t(channels), value));
  }
  // FOLDER/CLASS/NUMBER.png, so many of each class.
  void classes(const std::string& folder, const std::vector<std::pair<std::string, int>>& counts,
               int side = 8) {
    for (const auto& [name, count] : counts) {
      for (int i = 0; i < count; ++i)
        put(folder + "/" + name + "/" + std::to_string(100 + i) + ".png", png(side, side, uint8_t(i)));
    }
  }
  std::string archive(const std::string& name,
                      const std::vector<std::pair<std::string, std::string>>& members) const {
    const std::string file = path + "/" + name;
    struct archive* a = archive_write_new();
    if (name.ends_with(".zip")) {
      archive_write_set_format_zip(a);
    } else {
      if (name.ends_with("gz")) archive_write_add_filter_gzip(a);
      archive_write_set_format_ustar(a);
    }
    archive_write_open_filename(a, file.c_str());
    test::write_members(a, members);
    return file;
  }
};

}  // namespace radl::engine::data
