// The files of one command line as one document: what EC3's templates include is read, and all is composed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/compat/ec3/compose.h"
#include "compiler/source/source.h"

namespace radl::ec3 {

struct TemplateFiles {
  std::vector<std::string> module_path;  // searched after the folders of the files
  // The text of an included template as it is parsed, and of a file that `ec3_file` names.
  std::function<Result<const SourceFile*>(const std::string&path)> load_template, load_file;
};

// Puts one tree in the place of all trees of RADL 1 where there are several, or where they are EC3's; those
// of `radl 2` are left alone. Gives back what it was composed of: the tree shares their nodes.
std::vector<std::unique_ptr<ast::Tree>> compose_files(std::vector<std::unique_ptr<ast::Tree>>& trees,
                                                      const TemplateFiles& files, Diagnostics& diagnostics);

}  // namespace radl::ec3
