// A thin, checked cover over the SQLite calls that the state and runtime/figures need.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace radl {

// Unused prepared statements, by their text.
using IdleStatements = std::map<std::string, std::vector<sqlite3_stmt*>, std::less<>>;

// A prepared statement of a Database, which must outlive it; returned to the Database for reuse.
class Statement {
 public:
  Statement(sqlite3* db, sqlite3_stmt* statement, IdleStatements* idle)
      : db_(db), statement_(statement), idle_(idle) {}
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
  IdleStatements* idle_;
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
  // An empty one in memory, or one of the bytes that whole_bytes() gave. Corrupt: they are no database.
  static Result<Database> in_memory(std::string_view bytes = {});
  // Puts all that is in `other` in place of what is here.
  Status overwrite(Database& other);
  // The database file that all that is in it makes.
  Result<std::string> whole_bytes();
  Status exec(const char* sql);  // one or more statements without parameters
  Result<Statement> prepare(std::string_view sql);
  Status run(std::string_view sql);                 // one statement without parameters, kept prepared
  Result<long long> integer(std::string_view sql);  // first column of the first row
  void roll_back() noexcept;                        // of the open transaction; without memory of its own
  long long last_row_id() const;
  bool read_only() const;
  sqlite3* handle() const { return db_; }  // for what SQLite can do beside statements

 private:
  explicit Database(sqlite3* db) : db_(db), idle_(std::make_unique<IdleStatements>()) {}
  sqlite3* db_;
  std::unique_ptr<IdleStatements> idle_;
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
