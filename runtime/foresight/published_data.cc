#include "runtime/foresight/published_data.h"

#include <fmt/format.h>

#include <cassert>
#include <charconv>
#include <cmath>

#include "common/csv_line.h"
#include "common/text.h"
#include "foresight/published_data_files.h"

namespace radl::foresight {
namespace {

constexpr size_t kStudyColumns = 7, kTypeColumns = 4;

bool read_number(std::string_view text, double& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

bool read_count(std::string_view text, int& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0;
}

// Lines that are neither empty, a comment nor the names of the columns.
template <class Take>
void each_line(std::string_view text, std::string_view first_column, const Take& take) {
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty() || line.starts_with('#') || line.starts_with(first_column)) continue;
    take(number, line);
  }
}

bool read_row(const std::vector<std::string_view>& fields, StudyRow& row) {
  if (fields.size() != kStudyColumns || fields[0].empty()) return false;
  row.study = fields[0];
  row.machine = fields[1];
  row.where = fields[6];
  double seconds = 0;
  if (!read_count(fields[2], row.machines) || !read_count(fields[3], row.batch)) return false;
  if (!read_number(fields[4], row.latency_ms) || row.latency_ms < 0) return false;
  if (fields[5].empty()) return true;
  if (!read_number(fields[5], seconds) || seconds <= 0) return false;
  row.seconds = seconds;
  return true;
}

}  // namespace

Result<std::vector<StudyRow>> read_study_rows(std::string_view text, const std::string& name) {
  std::vector<StudyRow> rows;
  Status wrong;
  CsvLine csv;
  each_line(text, "study,", [&](int number, std::string_view line) {
    csv.split(line);
    StudyRow row;
    if (read_row(csv.fields(), row)) {
      rows.push_back(std::move(row));
    } else if (wrong.ok()) {
      wrong = Status(Code::Invalid, fmt::format("{}:{}: no row of epoch times", name, number))
                  .with_hint("columns: study,machine,machines,batch,latency_ms,seconds,where");
    }
  });
  if (!wrong.ok()) return wrong;
  return rows;
}

std::vector<StudyRow> study_rows(std::string_view study) {
  auto rows = read_study_rows(kAnwarRows, "anwar-2021.csv");
  assert(rows.ok());
  std::vector<StudyRow> of;
  for (StudyRow& row : *rows)
    if (study.empty() || row.study == study) of.push_back(std::move(row));
  return of;
}

std::vector<PublishedType> fc2_types() {
  std::vector<PublishedType> types;
  CsvLine csv;
  each_line(kFc2Types, "type,", [&](int, std::string_view line) {
    csv.split(line);
    const auto& fields = csv.fields();
    double price = 0, network = 0;
    [[maybe_unused]] const bool read = fields.size() == kTypeColumns && read_number(fields[2], price) &&
                                       (fields[3].empty() || read_number(fields[3], network));
    assert(read);
    types.push_back({std::string(fields[0]), fields[1] == "server", Money::of(price), network});
  });
  return types;
}

}  // namespace radl::foresight
