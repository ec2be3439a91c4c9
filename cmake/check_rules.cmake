# Every cited rule exists in docs/rules.md, and every rule in docs/rules.md has a row with a test in
# the table "Rules" of docs/conformance.md.
#
# docs/rules.md: "## T. Time" begins a section, "**T1. …**" or a table row "| S1 | …" is a rule. A
# section without rules, such as E, is cited and tested as a whole. A section whose heading says
# "not part of this release" needs no tests.
#
# These are citations:
#   - a word such as K3, H12 or EA6 in a comment or in a document;
#   - a letter after "RULES", as in RULES E, or at the beginning of a comment, as in "// V: …";
#   - "Section K of the rules";
#   - the name of a test suite, as in TEST(T4, …), and the first word of a test's name, as in
#     TEST(TaskFile, E_…).
cmake_minimum_required(VERSION 3.25)

set(not_rules C0)  # control characters

# Reads a file without semicolons, brackets and backslashes, so that it can become a list.
function(read_text out file)
  file(READ ${file} text)
  string(REGEX REPLACE "[][;\\]" "," text "${text}")
  string(REPLACE "–" "-" text "${text}")
  set(${out} "\n${text}" PARENT_SCOPE)
endfunction()

# The rules.
set(rules_file ${SOURCE}/docs/rules.md)
set(sections)
set(rules)      # with a section that has none
set(untested)   # need no test
read_text(text ${rules_file})
string(REGEX MATCHALL "\n(## [A-Z]+[.] [^\n]*|[*][*][A-Z]+[0-9]+[.] |[|] [A-Z]+[0-9]+ [|])" items "${text}")
foreach(item ${items})
  if(item MATCHES "## ([A-Z]+)[.]")
    set(section ${CMAKE_MATCH_1})
    list(APPEND sections ${section})
    set(id ${section})
    set(released TRUE)
    if(item MATCHES "not part of this release")
      set(released FALSE)
    endif()
  else()
    string(REGEX MATCH "[A-Z]+[0-9]+" id "${item}")
    if(NOT id MATCHES "^${section}[0-9]+$")
      message(SEND_ERROR "${rules_file}: ${id} stands in section ${section}")
    endif()
    list(REMOVE_ITEM rules ${section})
  endif()
  if(id IN_LIST rules)
    message(SEND_ERROR "${rules_file}: ${id} is there twice")
  endif()
  list(APPEND rules ${id})
  if(NOT released)
    list(APPEND untested ${id})
  endif()
endforeach()
list(LENGTH rules count)
if(count LESS 10)
  message(FATAL_ERROR "${rules_file} has too few rules: ${rules}")
endif()

# The rows of the table "Rules", as in "| I6-I8 | … | `I6.*` |".
set(table_file ${SOURCE}/docs/conformance.md)
read_text(text ${table_file})
if(NOT text MATCHES "\n## Rules\n")
  message(FATAL_ERROR "${table_file} has no section \"Rules\"")
endif()
string(REGEX REPLACE ".*\n## Rules\n" "\n" text "${text}")
string(REGEX REPLACE "\n## .*" "\n" text "${text}")
string(REGEX MATCHALL "\n[|] [A-Z][^\n]*" rows "${text}")
set(tested)
foreach(row ${rows})
  string(REGEX REPLACE "^\n[|] ([^|]*) [|].*" "\\1" cell "${row}")
  set(ids)
  string(REGEX REPLACE "[, ]+" ";" parts "${cell}")
  foreach(part ${parts})
    if(part MATCHES "^([A-Z]+)([0-9]+)-([A-Z]+)([0-9]+)$" AND CMAKE_MATCH_1 STREQUAL CMAKE_MATCH_3)
      foreach(number RANGE ${CMAKE_MATCH_2} ${CMAKE_MATCH_4})
        list(APPEND ids ${CMAKE_MATCH_1}${number})
      endforeach()
    else()
      list(APPEND ids ${part})
    endif()
  endforeach()
  foreach(id ${ids})
    if(NOT id IN_LIST rules)
      message(SEND_ERROR "${table_file}: a row is about ${id}, which ${rules_file} does not have")
    endif()
  endforeach()
  if(row MATCHES "`[A-Z][A-Za-z0-9]*[.][A-Za-z0-9_*]+`[^|]*[|]$")
    list(APPEND tested ${ids})
  endif()
endforeach()
foreach(id ${rules})
  if(NOT id IN_LIST tested AND NOT id IN_LIST untested)
    message(SEND_ERROR "${rules_file}: ${id} has no row with a test in the table \"Rules\" of ${table_file}")
  endif()
endforeach()

# The citations. Both functions add their findings to the list `cited` of their caller.

# The words in a variable's value that are ids.
function(cite_words variable)
  string(REGEX REPLACE "T[0-9][0-9]:[0-9][0-9]" "" words "${${variable}}")  # times
  string(REGEX REPLACE "[^A-Za-z0-9_]+" ";" words "${words}")
  list(FILTER words INCLUDE REGEX "^(EA|[CEHIKLNPRSTVX])[0-9]+$")
  set(cited ${cited} ${words} PARENT_SCOPE)
endfunction()

# The parts of a variable's value that match the parentheses of a pattern.
function(cite_matches variable pattern)
  string(REGEX MATCHALL "${pattern}" found "${${variable}}")
  list(TRANSFORM found REPLACE "${pattern}" "\\1")
  set(cited ${cited} ${found} PARENT_SCOPE)
endfunction()

set(count 0)
file(GLOB_RECURSE files
  ${SOURCE}/src/*.cc ${SOURCE}/src/*.h ${SOURCE}/include/*.h ${SOURCE}/tests/*.cc ${SOURCE}/tests/*.h
  ${SOURCE}/tests/*.txt ${SOURCE}/docs/*.md ${SOURCE}/fuzz/*.cc
  ${SOURCE}/bench/*.cc ${SOURCE}/bench/*.h ${SOURCE}/bench/*.py)
foreach(file ${files} ${SOURCE}/README.md ${SOURCE}/CONTRIBUTING.md ${SOURCE}/CHANGELOG.md)
  set(cited)
  read_text(text ${file})
  if(file MATCHES "[.](cc|h)$")
    cite_matches(text "\n[A-Z_]*TEST[A-Z_]*[(](EA[0-9]+|[A-Z][0-9]*),")
    string(REGEX MATCHALL "\n[A-Z_]*TEST[A-Z_]*[(][A-Za-z0-9]+,[ \n]*[A-Z][0-9]*_" names "${text}")
    cite_matches(names "[ \n]([A-Z][0-9]*)_")
    string(REGEX MATCHALL "//[^\n]*" text "${text}")
    cite_matches(text "// ([A-Z])[,:] ")
    string(REPLACE ";//" "" text "${text}")  # a sentence may go on in the next line
  elseif(file STREQUAL table_file)
    # The models of the older seeds have their own ids.
    string(REGEX REPLACE "### The model of seed-00[01]\n(\n|[^#\n][^\n]*\n)*" "" text "${text}")
  endif()
  cite_words(text)
  cite_matches(text "RULES ([A-Z]+[0-9]*)")
  cite_matches(text "Section ([A-Z]+) of the rules")

  list(LENGTH cited here)
  math(EXPR count "${count} + ${here}")
  list(REMOVE_DUPLICATES cited)
  list(REMOVE_ITEM cited ${rules} ${sections} ${not_rules})
  foreach(unknown ${cited})
    file(STRINGS ${file} lines REGEX "(^|[^A-Za-z0-9_])${unknown}([^A-Za-z0-9]|$)" LIMIT_COUNT 1)
    message(SEND_ERROR "${file}: there is no rule ${unknown} in ${rules_file}: ${lines}")
  endforeach()
endforeach()
if(count LESS 100)
  message(FATAL_ERROR "only ${count} citations of rules were found")
endif()
