// Turns the files of a command line into one document: reads EC3's includes, and composes all.
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
  std::vector<std::string> module_path;  // searched after the files' folders
  // Returns the source of an included template, and of a file named by `ec3_file`.
  std::function<Result<const SourceFile*>(const std::string&path)> load_template, load_file;
};

// Replaces all RADL 1 trees by one if there are several or if they are EC3's. Leaves trees of `radl 2` alone.
// Returns the original trees, whose nodes the new tree shares.
std::vector<std::unique_ptr<ast::Tree>> compose_files(std::vector<std::unique_ptr<ast::Tree>>& trees,
                                                      const TemplateFiles& files, Diagnostics& diagnostics);

}  // namespace radl::ec3
