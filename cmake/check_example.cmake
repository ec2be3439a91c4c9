# The page must contain the example, letter for letter.
file(READ ${PAGE} page)
file(READ ${EXAMPLE} example)
string(FIND "${page}" "```cpp\n${example}```" position)
if(position EQUAL -1)
  message(FATAL_ERROR "${PAGE} does not show ${EXAMPLE} as it is")
endif()
