// What names a process for good, from /proc.
#include <unistd.h>

#include <climits>
#include <sstream>

#include "common/files.h"
#include "common/process/process.h"

namespace radl {

unsigned long long process_start_time(int pid) {
  Result<std::string> stat = read_file("/proc/" + std::to_string(pid) + "/stat", 65536);
  if (!stat.ok()) return 0;
  // The second field is the program's name in parentheses, which may itself hold spaces and parentheses.
  size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat->substr(name_end + 1));
  std::string field;
  // proc(5): after the name, "state" is field 3 and "starttime" is field 22.
  for (int number = 3; number <= 22 && fields >> field; ++number) {
    if (number == 3 && (field == "Z" || field == "X")) return 0;
    if (number == 22) return std::stoull(field);
  }
  return 0;
}

std::string boot_id() {
  Result<std::string> id = read_file("/proc/sys/kernel/random/boot_id", 256);
  if (!id.ok()) return "";
  while (!id->empty() && id->back() == '\n') id->pop_back();
  return *id;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

}  // namespace radl
