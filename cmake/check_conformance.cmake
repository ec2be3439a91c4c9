# Every test that docs/conformance.md names, such as `T3.*` or `Stores.keep_names_of_any_bytes`,
# exists, and every row of its tables names a test or a reason.
cmake_minimum_required(VERSION 3.25)

set(tests)
file(GLOB_RECURSE files ${SOURCE}/src/*_test.cc ${SOURCE}/tests/*_test.cc)
foreach(file ${files})
  file(READ ${file} text)
  string(REGEX MATCHALL "\n(TEST|TEST_F|TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\\([A-Za-z0-9]+,[ \n]*[A-Za-z0-9_]+"
         found "${text}")
  list(APPEND tests ${found})
endforeach()
list(TRANSFORM tests REPLACE "\n[A-Z_]+\\(([A-Za-z0-9]+),[ \n]*" "\\1.")

file(READ ${DOCUMENT} text)
string(REGEX MATCHALL "`[A-Z][A-Za-z0-9]*\\.[A-Za-z0-9_*]+`" names "${text}")
list(REMOVE_DUPLICATES names)
foreach(name ${names})
  string(REPLACE "`" "" pattern ${name})
  string(REPLACE "." "\\." pattern ${pattern})
  string(REPLACE "*" ".*" pattern ${pattern})
  set(matching ${tests})
  list(FILTER matching INCLUDE REGEX "^${pattern}$")
  if(NOT matching)
    message(SEND_ERROR "${DOCUMENT}: there is no test ${name}")
  endif()
endforeach()

string(REGEX MATCHALL "\n[|][^\n]*[|] *[|](\n|$)" empty "${text}")
foreach(row ${empty})
  message(SEND_ERROR "${DOCUMENT}: neither a test nor a reason in ${row}")
endforeach()

list(LENGTH names count)
if(count EQUAL 0)
  message(FATAL_ERROR "${DOCUMENT} names no tests")
endif()
