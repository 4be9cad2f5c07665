// Where a command's result goes: a file that the user names, or standard output. The one way for a command to
// write such a file, so that none replaces a source, a state or anything else that radlc did not write.
#pragma once

#include <string>
#include <string_view>

#include "common/output_file.h"
#include "runtime/cli/command.h"

namespace radl::cli {

// What the file is. Sources and copies of states are never recognized as radlc's own: people keep and edit
// them.
enum class ResultKind { Calibration, Compiled, Drawing, Inputs, Page, Plan, Review, Source, State };

// A name in a JSON file of inputs that says who wrote the file; --input-file leaves out names with a `$`.
constexpr const char* kWrittenBy = "$written_by";

// `-o FILE` of a command, and whether its --force was given.
struct ResultFile {
  std::string path;
  bool force = false;
};

// Adds the option `names` with a FILE, or the positional `names`, and --force.
void add_result_file(CLI::App& command, const std::string& names, ResultFile& file, const std::string& what);
// --force alone, for a command with several such files.
void add_force(CLI::App& command, bool& force);

// Whether `-o FILE` means standard output: it was not given, or is "-".
inline bool to_standard_output(const std::string& file) { return file.empty() || file == "-"; }

// The text as the file of this kind has it: with a mark by which radlc recognizes the file later.
std::string marked(std::string text, ResultKind kind);

// Exists: write_output_file's, with the hint to say --force.
Status write_result(const ResultFile& file, std::string_view text, ResultKind kind, unsigned new_mode = 0666);
// Writes the text there, or to standard output; the exit code.
int put_result(const Session& session, std::string_view text, const ResultFile& file, ResultKind kind);

// For an option whose file is read again later, or that goes beside what is shown: "-" is not such a file.
Status needs_file(const std::string& file, std::string_view option);

}  // namespace radl::cli
