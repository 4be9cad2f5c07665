#include "runtime/base/job_folder.h"

#include <cctype>

namespace radl {

std::string job_folder_name(const std::string& name, const std::string& identity) {
  std::string folder;
  for (char c : name) folder += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
  return folder + "-" + identity.substr(0, 12);
}

}  // namespace radl
