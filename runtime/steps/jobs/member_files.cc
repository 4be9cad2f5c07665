// Single files between a job's folder and this computer.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <sstream>

#include "common/shell_quote.h"
#include "common/tidy_path.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/node_files.h"
#include "runtime/steps/jobs/member.h"

namespace radl::jobs {

Result<std::string> Member::output_of(const std::string& command, const std::string& what,
                                      const std::function<void(std::string_view piece)>& take) {
  auto remote = node_.connect();
  if (!remote) return std::move(remote).status().at(address());
  std::string all;
  ExecOptions options;
  options.deadline = take ? std::chrono::hours(24) : std::chrono::hours(1);
  options.stop = take ? context_.stop : Stop().until(context_.stop.deadline());
  options.on_output = [&](std::string_view piece, bool is_stderr) {
    if (is_stderr) return;
    if (take)
      take(piece);
    else
      all += piece;
  };
  auto result = (*remote)->exec(command, options);
  if (!result) return std::move(result).status().at(address());
  if (result->exit_status != 0)
    return std::move(ssh::command_failure(*result, folder() + "/" + what)).at(address());
  return all;
}

Result<std::vector<NodeFile>> Member::files(const std::string& below) {
  // A file that has gone between the two is no failure, and neither a name that no line can hold.
  auto output = output_of(fmt::format(R"sh([ -d {0} ] || {{ echo whole; exit 0; }}
cd {0} && find . -type f ! -name '*.part' ! -name '*
*' -exec stat -c '%s %n' {{}} +
[ $? -le 1 ] && echo whole)sh",
                                      shell_path(folder() + "/" + below)),
                          below);
  if (!output) return output.status();
  std::vector<NodeFile> files;
  std::istringstream lines(*output);
  for (std::string line; std::getline(lines, line) && line != "whole";) {
    const size_t blank = line.find(" ./");
    uint64_t size = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size);
    if (error != std::errc() || end != line.data() + blank)
      return Status(Code::Corrupt, fmt::format("{}: cannot read the list of its files: {}", address(), line));
    std::string name = line.substr(blank + 3);
    if (goes_up(name)) return Status(Code::Corrupt, address() + ": lists a file outside of its folder");
    files.push_back({std::move(name), size});
  }
  return files;
}

Result<std::string> Member::read(const std::string& below, size_t most) {
  const std::string path = shell_path(folder() + "/" + below);
  auto result = exec(fmt::format("[ -f {0} ] || exit 44; head -c {1} {0}", path, most));
  if (!result) return result.status();
  if (result->exit_status == 44) return not_found(address() + ": there is no " + below);
  if (result->exit_status != 0) return std::move(ssh::command_failure(*result, below)).at(address());
  return result->out;
}

// The job's own folder exists. The script and files that soon() collected run first.
Status Member::make_folder_of(const std::string& below) {
  const size_t slash = below.rfind('/');
  if (slash == below.npos && !has_soon()) return {};
  const std::string path =
      shell_path(slash == below.npos ? folder() : folder() + "/" + below.substr(0, slash));
  auto result = exec("mkdir -p " + path);
  if (!result) return result.status();
  return result->exit_status == 0 ? Status() : std::move(ssh::command_failure(*result, path)).at(address());
}

Status Member::put_file(const std::string& local_path, const std::string& below, const Stop& stop) {
  if (Status made = make_folder_of(below); !made.ok()) return made;
  auto remote = node_.connect();
  if (!remote) return remote.status();
  return (*remote)->put_file(local_path, folder() + "/" + below, 0644, stop).status();
}

Status Member::put_bytes(std::string_view content, const std::string& below, const Stop& stop,
                         unsigned mode) {
  if (Status made = make_folder_of(below); !made.ok()) return made;
  auto remote = node_.connect();
  if (!remote) return remote.status();
  return (*remote)->put_bytes(content, folder() + "/" + below, mode, stop).status();
}

}  // namespace radl::jobs
