// Tables of what was published, as the tests compare with them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "common/csv_line.h"
#include "common/files.h"
#include "common/text.h"
#include "tests/support/paths.h"

namespace radl::foresight {

using TableRow = std::map<std::string, std::string>;

inline std::vector<TableRow> table(const std::string& name) {
  auto text = read_file(test::source_dir() + "/tests/unit/runtime/foresight/tables/" + name);
  EXPECT_TRUE(text.ok()) << text.status().text();
  std::vector<TableRow> rows;
  std::vector<std::string> names;
  CsvLine csv;
  const std::string all = text.ok() ? *text : "";
  for (std::string_view line : split(all, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    csv.split(line);
    if (names.empty()) {
      names.assign(csv.fields().begin(), csv.fields().end());
      continue;
    }
    EXPECT_EQ(csv.fields().size(), names.size()) << line;
    TableRow row;
    for (size_t i = 0; i < std::min(names.size(), csv.fields().size()); ++i) row[names[i]] = csv.fields()[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

inline std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::string_view word : split(text, ' ')) words.emplace_back(word);
  return words;
}

}  // namespace radl::foresight
