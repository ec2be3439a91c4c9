# POSTGRES_PROGRAMS: the folder of a PostgreSQL server, which the tests start. `./do test` unpacks one,
# because installing Debian's package would start a service. If there is none, the tests fail and say so.
find_path(POSTGRES_PROGRAMS NAMES initdb
  HINTS ${PROJECT_SOURCE_DIR}/.cache/unpacked/postgresql-15/usr/lib/postgresql/15/bin
        /usr/lib/postgresql/15/bin
  NO_CMAKE_FIND_ROOT_PATH)
