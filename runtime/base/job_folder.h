// The name of a job's folder on nodes, below ~/.radl/jobs.
#pragma once

#include <string>

namespace radl {

// Letters, digits and '-', with the first digits of the identity, which a job keeps while what it computes is
// the same.
std::string job_folder_name(const std::string& name, const std::string& identity);

}  // namespace radl
