// The destination of a command's result: a file that the user names, or standard output. All commands write
// such files here, so that none replaces a source, a state or any other file that radlc did not write.
#pragma once

#include <string>
#include <string_view>

#include "common/output_file.h"
#include "runtime/cli/command.h"

namespace radl::cli {

// The kind of file. Sources and copies of states are never recognized as radlc's own, because people keep and
// edit them.
enum class ResultKind { Calibration, Compiled, Drawing, Inputs, Page, Plan, Review, Source, State };

// Key in a JSON file of inputs that identifies the writer; --input-file ignores keys with a `$`.
constexpr const char* kWrittenBy = "$written_by";

// A command's `-o FILE`, and whether --force was given.
struct ResultFile {
  std::string path;
  bool force = false;
};

// Adds the option `names` with a FILE, or the positional `names`, and --force.
void add_result_file(CLI::App& command, const std::string& names, ResultFile& file, const std::string& what);
// Adds only --force, for a command with several such files.
void add_force(CLI::App& command, bool& force);

// True if `-o FILE` means standard output: not given, or "-".
inline bool to_standard_output(const std::string& file) { return file.empty() || file == "-"; }

// The text with the mark for its kind, by which radlc later recognizes the file.
std::string marked(std::string text, ResultKind kind);

// Exists: as write_output_file, with a hint to use --force.
Status write_result(const ResultFile& file, std::string_view text, ResultKind kind, unsigned new_mode = 0666);
// Writes the text to the file or to standard output. Returns the exit code.
int put_result(const Session& session, std::string_view text, const ResultFile& file, ResultKind kind);

// For options whose file is read later or supplements other output, so that "-" makes no sense.
Status needs_file(const std::string& file, std::string_view option);

}  // namespace radl::cli
