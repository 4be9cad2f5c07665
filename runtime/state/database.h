// A thin, checked cover over the SQLite calls that the state needs. Internal to runtime/state.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace radl {

class Statement {
 public:
  Statement(sqlite3* db, sqlite3_stmt* statement) : db_(db), statement_(statement) {}
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;

  // Positions count from 1, as in SQL.
  Statement& bind(int position, std::string_view text);
  Statement& bind(int position, long long number);
  Statement& bind(int position, int number) { return bind(position, static_cast<long long>(number)); }
  Statement& bind(int position, bool flag) { return bind(position, flag ? 1LL : 0LL); }
  Statement& bind(int position, double number);
  Statement& bind(int position, const std::string& text) { return bind(position, std::string_view(text)); }
  Statement& bind(int position, const char* text) { return bind(position, std::string_view(text)); }
  // True: a row is there.
  Result<bool> step();
  Status run();  // a statement without rows
  void reset();  // bound again and run again
  // Columns count from 0, as in SQLite.
  std::string text(int column) const;
  long long integer(int column) const;
  double real(int column) const;
  bool is_null(int column) const;

 private:
  sqlite3* db_;
  sqlite3_stmt* statement_;
};

class Database {
 public:
  enum class Access { ReadWrite, Read };
  static Result<Database> open(const std::string& path, Access access);
  ~Database();
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;

  // All that is in it now, in memory only: changing the copy changes no file.
  Result<Database> copy_in_memory();
  Status exec(const char* sql);  // one or more statements without parameters
  Result<Statement> prepare(std::string_view sql);
  Result<long long> integer(std::string_view sql);  // first column of the first row
  long long last_row_id() const;
  bool read_only() const;

 private:
  explicit Database(sqlite3* db) : db_(db) {}
  sqlite3* db_;
};

// BEGIN IMMEDIATE .. COMMIT; rolled back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& db) : db_(&db) {}
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Status begin(bool for_writing = true);
  Status commit();

 private:
  Database* db_;
  bool open_ = false;
};

}  // namespace radl
