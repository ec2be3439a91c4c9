# Only the files in the table of docs/architecture.md, section "Time", read a clock or wait for one,
# and each of them does.
#
# A row of the table names one file or several, below src/: "| `daemon/log.cc` | … |".
#
# What counts as reading a clock:
#   - now() of a clock of <chrono>, also by an alias, as in "using Steady = std::chrono::steady_clock";
#   - high_resolution_clock, clock_gettime, gettimeofday, timespec_get, std::clock, and time() of C;
#   - a wait with a timeout: wait_for, wait_until, sleep and its kin, a timerfd, and poll and
#     epoll_wait with a timeout other than 0 and -1.
# Comments do not count, and neither do tests.
cmake_minimum_required(VERSION 3.25)

# The named files.
set(document ${SOURCE}/docs/architecture.md)
file(READ ${document} text)
if(NOT text MATCHES "\n## Time\n")
  message(FATAL_ERROR "${document} has no section \"Time\"")
endif()
string(REGEX REPLACE ".*\n## Time\n" "\n" text "${text}")
string(REGEX REPLACE "\n## .*" "\n" text "${text}")
string(REPLACE ";" "," text "${text}")
string(REGEX MATCHALL "\n[|] `[^|]*[|]" cells "${text}")
set(named)
foreach(cell ${cells})
  string(REGEX MATCHALL "`[^`]+`" files "${cell}")
  string(REPLACE "`" "" files "${files}")
  list(APPEND named ${files})
endforeach()
foreach(file ${named})
  if(NOT EXISTS ${SOURCE}/src/${file})
    message(SEND_ERROR "${document}: src/${file} does not exist")
  endif()
endforeach()

# Reads a file without its comments and empties its strings. Semicolons become "@", so that the text
# may become a list and a call still has an end.
function(read_code out file)
  file(READ ${file} code)
  string(REGEX REPLACE "[][\\]" "," code "${code}")
  string(REPLACE ";" "@" code "${code}")
  string(REGEX REPLACE "//[^\n]*" "" code "${code}")
  string(REGEX REPLACE "\"[^\"\n]*\"" "\"\"" code "${code}")
  set(${out} "${code}" PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE files RELATIVE ${SOURCE}/src ${SOURCE}/src/*.h ${SOURCE}/src/*.cc)
list(FILTER files EXCLUDE REGEX "(_test[.]cc|_in_test[.]h|_fuzz[.]cc)$")
list(LENGTH files count)
if(count LESS 100)
  message(FATAL_ERROR "only ${count} sources were found in ${SOURCE}/src")
endif()

# The names by which clocks of <chrono> are known.
set(clock "[a-z_]+_clock")
set(clocks "${clock}")
foreach(file ${files})
  read_code(code ${SOURCE}/src/${file})
  string(REGEX MATCHALL "using [A-Za-z_]+ = (std::)?(chrono::)?${clock}@" aliases "${code}")
  foreach(alias ${aliases})
    string(REGEX REPLACE "using ([A-Za-z_]+) .*" "\\1" alias "${alias}")
    string(APPEND clocks "|${alias}")
  endforeach()
endforeach()

set(before "(^|[^A-Za-z0-9_])")
set(reads_of_time
  "${before}(${clocks})::now[ \n]*[(]"
  "high_resolution_clock"
  "clock_gettime|gettimeofday|timespec_get|std::clock[ \n]*[(]"
  "std::time[ \n]*[(]|[^A-Za-z0-9_:]::time[ \n]*[(]|[^A-Za-z0-9_.>]time[ \n]*[(][ \n]*(nullptr|NULL|0|&)"
  "(wait|sleep)_(for|until)[ \n]*[(]|${before}(nanosleep|usleep|sleep)[ \n]*[(][^)]|timerfd_")
foreach(file ${files})
  read_code(code ${SOURCE}/src/${file})
  set(found)
  foreach(pattern ${reads_of_time})
    if(code MATCHES "${pattern}")
      list(APPEND found "${CMAKE_MATCH_0}")
    endif()
  endforeach()
  string(REGEX MATCHALL "${before}(p?poll|epoll_p?wait)[ \n]*[(][^@]*@" calls "${code}")
  foreach(call ${calls})
    if(NOT call MATCHES ",[ \n]*(0|-1)[)]")
      list(APPEND found "${call}")
    endif()
  endforeach()
  if(found AND NOT file IN_LIST named)
    list(JOIN found ", " found)
    string(REGEX REPLACE "[ \n]+" " " found "${found}")
    message(SEND_ERROR "src/${file} reads a clock, and the section \"Time\" of ${document} does not name "
                       "it: ${found}\n  Take the time as an argument, or name the file with the reason.")
  elseif(NOT found AND file IN_LIST named)
    message(SEND_ERROR "${document}: src/${file} does not read a clock; remove it from the table")
  endif()
endforeach()
