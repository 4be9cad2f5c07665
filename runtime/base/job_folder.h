// The name of a job's folder on nodes, below ~/.radl/jobs.
#pragma once

#include <string>

namespace radl {

// Letters, digits and '-', plus the first digits of the identity, which stays the same while the job's
// computation does.
std::string job_folder_name(const std::string& name, const std::string& identity);

}  // namespace radl
