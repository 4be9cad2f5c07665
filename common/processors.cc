#include "common/processors.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

namespace radl {
namespace {

// "150000 100000" or "max 100000" (microseconds per period): docs/admin-guide/cgroup-v2.rst of
// Linux.
double quota_of_v2(const std::string& group) {
  std::ifstream file(group + "/cpu.max");
  double quota = 0, period = 0;
  return file >> quota >> period && quota > 0 && period > 0 ? quota / period : 0;
}

// Two files; a quota of -1 means unlimited (scheduler/sched-bwc.rst of Linux).
double quota_of_v1(const std::string& group) {
  std::ifstream quotas(group + "/cpu.cfs_quota_us"), periods(group + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  return quotas >> quota && periods >> period && quota > 0 && period > 0 ? quota / period : 0;
}

// The limit of the group at `path` below `mount` and of its parents. In a container `path` may be the host's,
// which is not to be seen there: then the mount itself is the container's group.
double lowest_quota(const std::string& mount, std::string path, double (*quota_of)(const std::string&)) {
  double lowest = 0;
  for (;;) {
    const double quota = quota_of(mount + path);
    if (quota > 0) lowest = lowest > 0 ? std::min(lowest, quota) : quota;
    if (path.empty()) return lowest;
    path.erase(path.find_last_of('/'));
  }
}

bool names_cpu(const std::string& controllers) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');)
    if (name == "cpu") return true;
  return false;
}

}  // namespace

double processor_quota(const std::string& root) {
  const std::string mounts = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  double lowest = 0;
  for (std::string line; std::getline(groups, line);) {  // "4:cpu,cpuacct:/path"; version 2: "0::/path"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path.empty() || path.front() != '/') continue;
    while (!path.empty() && path.back() == '/') path.pop_back();
    std::vector<double> found;
    if (controllers.empty()) {
      found = {lowest_quota(mounts, path, quota_of_v2), lowest_quota(mounts + "/unified", path, quota_of_v2)};
    } else if (names_cpu(controllers)) {
      found = {lowest_quota(mounts + "/" + controllers, path, quota_of_v1),
               lowest_quota(mounts + "/cpu", path, quota_of_v1)};
    }
    for (double quota : found)
      if (quota > 0) lowest = lowest > 0 ? std::min(lowest, quota) : quota;
  }
  return lowest;
}

int usable_cores() {
  cpu_set_t set;
  const int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
  const double quota = processor_quota();
  return quota > 0 ? std::clamp(static_cast<int>(std::lround(std::min(quota, 1e6))), 1, cores) : cores;
}

}  // namespace radl
