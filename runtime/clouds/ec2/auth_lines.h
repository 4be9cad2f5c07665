// Lines of type EC2 of the Infrastructure Manager's auth file.
#pragma once

#include <memory>

#include "common/aws/credentials.h"
#include "runtime/auth/auth_file.h"

namespace radl::ec2 {

// Keys: username, password and, for a session, token. Auth: one is missing, and why.
Result<std::shared_ptr<aws::CredentialSource>> credentials_of(const AuthFile& file, const AuthLine& line);

}  // namespace radl::ec2
