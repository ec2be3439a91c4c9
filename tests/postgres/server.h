// A PostgreSQL server of the tests' own.
#pragma once

#include <string>

#include <sys/types.h>

#include "support/temporary_directory.h"

namespace dutiful {

// Listens on a socket in a temporary directory, and nowhere else. Its tables are made by us alone,
// so it does not wait for the disk. It ends with the process, however that ends.
class PostgresServer {
 public:
  // The server of this test program, which is started when it is first asked for. Throws if it
  // cannot be, with the reason.
  static PostgresServer& instance();

  // An empty database.
  [[nodiscard]] std::string make_database();
  // For the user of the server, who may do everything.
  [[nodiscard]] std::string address(const std::string& database) const;
  // For another user. `guarded` needs a password, any other none.
  [[nodiscard]] std::string address(const std::string& database,
                                    const std::string& user,
                                    const std::string& password = {}) const;

 private:
  PostgresServer();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  [[nodiscard]] std::string folder_of_programs() const;
  void make_files(const std::string& programs) const;
  void await_start() const;

  TemporaryDirectory directory_;
  pid_t process_ = 0;
  int databases_ = 0;
};

}  // namespace dutiful
