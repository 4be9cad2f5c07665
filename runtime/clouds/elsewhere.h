// Clouds that the Infrastructure Manager knows and radlc does not have, reported in one line before a plan
// fails.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"
#include "runtime/clouds/provider.h"

namespace radl {

// "OpenNebula" of "one" and "opennebula"; "" of any other name that a `deploy` may say.
std::string_view cloud_elsewhere(std::string_view name);
// "OpenNebula" of "one://host/1"; "" of an image's address that is none of these.
std::string_view image_elsewhere(std::string_view url);
// Schemes that an image's address may have: of radlc's clouds, of those of the Infrastructure Manager, and of
// plain files. The compiler warns of others (CompileOptions::image_schemes).
std::vector<std::string> known_image_schemes(const CloudProviders& providers);
// Whether a text may ask for one of them: quick, and true too often.
bool may_ask_elsewhere(std::string_view text);

struct AskedElsewhere {
  ir::Origin origin;  // of the first node of a system
  std::string text;  // "system 'node': OpenNebula, which its image is for, is not among radlc's clouds (...)"
};
// One for each system of which `deploy` names such a cloud, or all of whose images are for such clouds.
std::vector<AskedElsewhere> asked_elsewhere(const ir::Program& program);

// "supported clouds: ec2, gce (docs/clouds.md)"
std::string supported_clouds(const std::vector<std::string>& names);

}  // namespace radl
