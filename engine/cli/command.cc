#include "engine/cli/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "common/human.h"

namespace radl::engine::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"Training", train_command::add, "radl-train train --data images --model resnet20 --epochs 10 -o run"},
      {"Training", eval_command::add, "radl-train eval run/model --data images --confusion"},
      {"Training", bench_command::add, "radl-train bench --model resnet20 --seconds 5"},
      {"Models", predict_command::add, "radl-train predict run/model photo.jpg --top 3"},
      {"Models", serve_command::add, "radl-train serve run/model --port 8080"},
      {"Models", convert_command::add, "radl-train export run/model -o model.onnx"},
      {"Models", convert_command::add_import,
       "radl-train import weights.safetensors --model resnet20 -o model"},
      {"Models", inspect_command::add, "radl-train inspect run/model"},
      {"Data", data_command::add, "radl-train data info images --verify"},
      {"Training", report_command::add, "radl-train report run"},
      {"Help", manual_command::add, "radl-train manual > radl-train.1"},
  };
  return all;
}

int exit_code_of(const Status& status) {
  switch (status.code()) {
    case Code::Ok:
      return kDone;
    case Code::Cancelled:
      return kInterrupted;
    case Code::Invalid:
    case Code::NotFound:
    case Code::Exists:
    case Code::Corrupt:
    case Code::Unsupported:
      return kUserError;
    default:
      return kWorldError;
  }
}

int fail(const Status& status) {
  // A job file with several mistakes has one line for each.
  std::string text = status.text();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 13))
    text.insert(at + 1, "radl-train: ");
  fmt::print(stderr, "radl-train: {}\n", text);
  return exit_code_of(status);
}

namespace {

Status with_force(Status status) {
  if (status.code() != Code::Exists) return status;
  return {Code::Exists, status.message() + " (name another file, or replace this one with --force)"};
}

}  // namespace

bool names_producer(std::string_view file) { return file.substr(0, 4096).find(kProducer) != file.npos; }

Status may_write(const std::string& path, const OutputRules& rules) {
  return with_force(may_write_output(path, "", rules));
}

Status write_output(const std::string& path, std::string_view content, const OutputRules& rules) {
  return with_force(write_output_file(path, content, rules));
}

Meter::~Meter() { clear(); }

void Meter::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void Meter::line(const std::string& text) {
  if (!terminal_ || seconds_since(last_) < 0.1) return;
  last_ = SteadyClock::now();
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
  drawn_ = true;
}

void Meter::say(const std::string& text) {
  clear();
  fmt::print(stderr, "{}\n", text);
  std::fflush(stderr);
}

void Meter::bytes(std::string_view what, uint64_t done, uint64_t total) {
  line(progress_text(what, done, total));
}

std::string progress_text(std::string_view what, uint64_t done, uint64_t total) {
  if (total == 0) return fmt::format("{} {}", what, bytes_text(double(done)));
  return fmt::format("{} {:3.0f}%  {} of {}", what, 100.0 * double(done) / double(total),
                     bytes_text(double(done)), bytes_text(double(total)));
}

bool Beat::due() {
  if (last_ && seconds_since(*last_) < 5) return false;
  last_ = SteadyClock::now();
  return true;
}

Result<std::vector<int>> parse_shape(const std::string& text) {
  std::vector<int> shape;
  const char *at = text.data(), *end = at + text.size();
  while (at < end) {
    int v = 0;
    const auto [next, error] = std::from_chars(at, end, v);
    if (error != std::errc() || v < 1 || v > 65536) break;
    shape.push_back(v);
    at = next;
    if (at < end && *at++ != 'x') break;
  }
  if (at != end || shape.size() != 3)
    return Status(Code::Invalid, "\"" + text + "\" is not a shape")
        .with_hint("HEIGHTxWIDTHxCHANNELS, for example 32x32x3");
  return shape;
}

void OnnxFlags::add(CLI::App& command) {
  command.add_option("--input", shape,
                     "HEIGHTxWIDTHxCHANNELS (default: of an ONNX file its own, else 32x32x3)");
  auto list = [&](const char* name, auto& values, const char* help) {
    command.add_option(name, values, help)->delimiter(',')->allow_extra_args(false);
  };
  list("--mean", mean, "mean of each input channel, with pixels from 0 to 1");
  list("--deviation", deviation, "standard deviation of each input channel");
  list("--class-names", class_names, "names of the classes, separated by commas");
}

Result<exporter::OnnxInput> OnnxFlags::input(const std::string& model) const {
  std::error_code error;
  const bool given = !shape.empty() || !mean.empty() || !deviation.empty() || !class_names.empty();
  if (given && std::filesystem::is_directory(model, error))
    return invalid("--input, --mean, --deviation and --class-names describe ONNX files; the folder " + model +
                   " has its own");
  exporter::OnnxInput made{{0, 0, 0}, mean, deviation, class_names};
  if (mean.empty() != deviation.empty()) return invalid("--mean and --deviation are needed together");
  if (shape.empty()) return made;
  auto sizes = parse_shape(shape);
  if (!sizes.ok()) return sizes.status();
  made.shape = {(*sizes)[0], (*sizes)[1], (*sizes)[2]};
  return made;
}

}  // namespace radl::engine::cli
