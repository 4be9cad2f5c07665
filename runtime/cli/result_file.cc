#include "runtime/cli/result_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace radl::cli {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMark = "Written by radlc";
constexpr std::string_view kReviewMark = R"(<meta name="generator" content="radlc plan">)";
constexpr std::string_view kPng = "\x89PNG", kPngEnd = "IEND";

std::string big_endian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

// Inserts a text chunk before the last one. Leaves anything but a complete PNG unchanged.
std::string marked_png(std::string image) {
  const size_t end = image.rfind(kPngEnd);
  if (end == image.npos || end < 4) return image;
  const std::string chunk = fmt::format("tEXtSoftware{}{}", '\0', kMark);
  const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uInt>(chunk.size()));
  const auto length = static_cast<uint32_t>(chunk.size() - 4);  // less the chunk's type
  image.insert(end - 4, big_endian(length) + chunk + big_endian(static_cast<uint32_t>(sum)));
  return image;
}

// As a comment at the end, in each format that has one.
std::string marked_drawing(std::string image) {
  if (image.starts_with(kPng)) return marked_png(std::move(image));
  if (image.starts_with("%PDF")) return std::move(image) + fmt::format("%{}\n", kMark);
  if (image.starts_with("<?xml")) return std::move(image) + fmt::format("<!-- {} -->\n", kMark);
  return image.find('\0') == image.npos ? std::move(image) + fmt::format("// {}\n", kMark) : image;
}

bool is_json_with(std::string_view text, std::initializer_list<const char*> keys) {
  const Json json = Json::parse(text, nullptr, false);
  return json.is_object() &&
         std::all_of(keys.begin(), keys.end(), [&](const char* key) { return json.contains(key); });
}

bool holds_mark(std::string_view text) { return text.find(kMark) != text.npos; }

std::function<bool(std::string_view)> recognizes(ResultKind kind) {
  switch (kind) {
    case ResultKind::Calibration:
      return [](std::string_view old) { return is_json_with(old, {"calibration", "profiles", "studies"}); };
    case ResultKind::Compiled:
      return [](std::string_view old) { return is_json_with(old, {"ir", "source_digest", "nodes"}); };
    case ResultKind::Inputs:
      return [](std::string_view old) { return is_json_with(old, {kWrittenBy}); };
    case ResultKind::Drawing:
    case ResultKind::Page:
      return holds_mark;
    case ResultKind::Plan:
      return [](std::string_view old) { return old.starts_with("radlplan "); };
    case ResultKind::Review:
      return [](std::string_view old) { return old.substr(0, 512).find(kReviewMark) != old.npos; };
    case ResultKind::Source:
    case ResultKind::State:
      break;
  }
  return {};
}

}  // namespace

void add_result_file(CLI::App& command, const std::string& names, ResultFile& file, const std::string& what) {
  CLI::Option* option = command.add_option(names, file.path, what);
  if (names.starts_with('-')) option->type_name("FILE");
  add_force(command, file.force);
}

void add_force(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "replace FILE even if radlc did not write it");
}

std::string marked(std::string text, ResultKind kind) {
  if (kind == ResultKind::Drawing) return marked_drawing(std::move(text));
  if (kind == ResultKind::Page) return std::move(text) + fmt::format("\n<!-- {} -->\n", kMark);
  return text;
}

Status write_result(const ResultFile& file, std::string_view text, ResultKind kind, unsigned new_mode) {
  Status written = write_output_file(file.path, text,
                                     {.ours = recognizes(kind), .force = file.force, .new_mode = new_mode});
  if (written.code() != Code::Exists) return written;
  return std::move(written).with_hint("name another file, or replace this one with --force");
}

int put_result(const Session& session, std::string_view text, const ResultFile& file, ResultKind kind) {
  if (to_standard_output(file.path)) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kDone;
  }
  Status written = write_result(file, text, kind);
  return written.ok() ? int(kDone) : report(session, written);
}

Status needs_file(const std::string& file, std::string_view option) {
  if (file != "-") return ok_status();
  return invalid(fmt::format("{} needs the name of a file; standard output shows the result as text", option))
      .with_hint(fmt::format("a file of that name: {} ./-", option));
}

}  // namespace radl::cli
