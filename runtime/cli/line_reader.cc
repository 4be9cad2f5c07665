#include "runtime/cli/line_reader.h"

#include <dlfcn.h>
#include <histedit.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <type_traits>

namespace radl::cli {
namespace {

constexpr int kMostHistory = 1000;

// libedit, loaded at the first input: linking it would slow every start of the program.
struct Library {
  decltype(&::el_init) el_init = nullptr;
  decltype(&::el_end) el_end = nullptr;
  decltype(&::el_set) el_set = nullptr;
  decltype(&::el_get) el_get = nullptr;
  decltype(&::el_gets) el_gets = nullptr;
  decltype(&::el_line) el_line = nullptr;
  decltype(&::el_insertstr) el_insertstr = nullptr;
  decltype(&::el_source) el_source = nullptr;
  decltype(&::history_init) history_init = nullptr;
  decltype(&::history_end) history_end = nullptr;
  decltype(&::history) history = nullptr;
  bool complete = false;  // it is there, and has all of these

  Library() {
    void* handle = ::dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);  // for as long as the program runs
    if (handle == nullptr) return;
    auto find = [handle](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
      return function != nullptr;
    };
    complete = find("el_init", el_init) && find("el_end", el_end) && find("el_set", el_set) &&
               find("el_get", el_get) && find("el_gets", el_gets) && find("el_line", el_line) &&
               find("el_insertstr", el_insertstr) && find("el_source", el_source) &&
               find("history_init", history_init) && find("history_end", history_end) &&
               find("history", history);
  }
};

const Library& libedit() {
  static const Library library;
  return library;
}

std::string common_start(const std::vector<std::string>& list) {
  std::string start = list.empty() ? "" : list[0];
  for (const std::string& each : list) {
    auto differs = std::mismatch(start.begin(), start.end(), each.begin(), each.end()).first;
    start.erase(differs, start.end());
  }
  return start;
}

}  // namespace

struct LineReader::Editor {
  const Library& library = libedit();
  Options options;
  std::string prompt;
  EditLine* line = nullptr;
  History* past = nullptr;

  explicit Editor(Options wanted) : options(std::move(wanted)) {}

  bool open() {
    if (!library.complete) return false;
    std::setlocale(LC_CTYPE, "");  // how wide a character is
    line = library.el_init("radlc", stdin, stdout, stderr);
    past = library.history_init();
    if (line == nullptr || past == nullptr) return false;
    library.el_set(line, EL_CLIENTDATA, this);
    library.el_set(line, EL_PROMPT, &Editor::show_prompt);
    library.el_set(line, EL_EDITOR, "emacs");
    library.el_set(line, EL_SIGNAL, 1);  // the terminal is put right before a signal ends the program
    library.el_set(line, EL_ADDFN, "radlc-complete", "complete a name", &Editor::complete);
    library.el_set(line, EL_BIND, "^I", "radlc-complete", nullptr);
    library.el_set(line, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    library.el_set(line, EL_HIST, library.history, past);
    library.el_source(line, nullptr);  // ~/.editrc: the user's own keys
    HistEvent event;
    library.history(past, &event, H_SETSIZE, kMostHistory);
    library.history(past, &event, H_SETUNIQUE, 1);
    if (!options.history.empty()) library.history(past, &event, H_LOAD, options.history.c_str());
    return true;
  }

  ~Editor() {
    HistEvent event;
    if (past != nullptr && !options.history.empty())
      library.history(past, &event, H_SAVE, options.history.c_str());
    if (line != nullptr) library.el_end(line);
    if (past != nullptr) library.history_end(past);
  }

  bool next(std::string& text) {
    // By itself libedit does so after the prompt: an end of file typed in between would become a part of the
    // line.
    library.el_set(line, EL_PREP_TERM, 1);
    int count = 0;
    const char* read = library.el_gets(line, &count);
    if (read == nullptr || count <= 0) return false;
    text.assign(read, static_cast<size_t>(count));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    HistEvent event;
    if (text.find_first_not_of(" \t") != std::string::npos)
      library.history(past, &event, H_ENTER, text.c_str());
    return true;
  }

  // Whose line it is, for the functions that libedit calls.
  static Editor& of(EditLine* line) {
    void* data = nullptr;
    libedit().el_get(line, EL_CLIENTDATA, &data);
    return *static_cast<Editor*>(data);
  }
  static char* show_prompt(EditLine* line) { return of(line).prompt.data(); }
  static unsigned char complete(EditLine* line, int) { return of(line).complete_word(); }

  unsigned char complete_word() {
    const LineInfo* info = library.el_line(line);
    std::string text(info->buffer, info->cursor);
    std::vector<std::string> found = options.complete(text);
    if (found.empty()) return CC_REFRESH_BEEP;
    size_t written = text.size() - options.word(text);
    std::string start = common_start(found);
    if (start.size() > written) {
      library.el_insertstr(line, start.c_str() + written);
      return CC_REFRESH;
    }
    if (found.size() == 1) return CC_REFRESH;
    std::fputc('\n', stdout);
    for (const std::string& each : found) std::fprintf(stdout, "%s\n", each.c_str());
    return CC_REDISPLAY;
  }
};

LineReader::LineReader(bool terminal, Options options) : terminal_(terminal) {
  if (!terminal) return;
  editor_ = std::make_unique<Editor>(std::move(options));
  if (!editor_->open()) editor_ = nullptr;
}

LineReader::~LineReader() = default;

bool LineReader::edits() const { return editor_ != nullptr; }

bool LineReader::next(const std::string& prompt, std::string& line) {
  if (editor_) {
    editor_->prompt = prompt;
    return editor_->next(line);
  }
  if (terminal_) std::fputs(prompt.c_str(), stdout), std::fflush(stdout);
  return static_cast<bool>(std::getline(std::cin, line));
}

}  // namespace radl::cli
