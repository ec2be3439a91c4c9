# The installed library: one archive of all layers, the public headers, and the files by which CMake
# and pkg-config find them.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
find_package(SQLite3 REQUIRED)
find_package(Threads REQUIRED)

set(layers text sync posix files time cron trace theory events core store engine runtime)
set(objects)
foreach(layer ${layers})
  get_target_property(type dutiful_${layer} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    list(APPEND objects $<TARGET_OBJECTS:dutiful_${layer}>)
  endif()
endforeach()
add_library(dutiful_all STATIC ${objects})
set_target_properties(dutiful_all PROPERTIES OUTPUT_NAME dutiful EXPORT_NAME dutiful LINKER_LANGUAGE CXX)
target_compile_features(dutiful_all PUBLIC cxx_std_20)
target_include_directories(dutiful_all INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(dutiful_all INTERFACE SQLite::SQLite3 Threads::Threads)

install(TARGETS dutiful_all EXPORT dutifulTargets)
install(TARGETS dutiful)
install(FILES docs/man/dutiful.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES docs/man/dutiful-tasks.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(FILES packaging/completions/dutiful.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME dutiful)
install(FILES packaging/completions/_dutiful
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES packaging/completions/dutiful.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# The paths in the units follow the prefix, which may be chosen at installation.
install(CODE "
  set(bindir \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR})
  set(sysconfdir \${CMAKE_INSTALL_PREFIX}/etc)
  if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    set(sysconfdir /etc)
  endif()
  foreach(unit dutiful dutiful-hardened)
    configure_file(${PROJECT_SOURCE_DIR}/packaging/\${unit}.service.in
      ${PROJECT_BINARY_DIR}/\${unit}.service @ONLY)
  endforeach()")
install(FILES ${PROJECT_BINARY_DIR}/dutiful.service DESTINATION lib/systemd/system)
install(FILES ${PROJECT_BINARY_DIR}/dutiful-hardened.service DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(DIRECTORY include/dutiful DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT dutifulTargets NAMESPACE dutiful:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dutiful)
file(WRITE ${PROJECT_BINARY_DIR}/dutifulConfig.cmake
"include(CMakeFindDependencyMacro)
find_dependency(SQLite3)
find_dependency(Threads)
include(\${CMAKE_CURRENT_LIST_DIR}/dutifulTargets.cmake)
")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/dutifulConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/dutifulConfig.cmake ${PROJECT_BINARY_DIR}/dutifulConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dutiful)

# Paths relative to the file itself, so that the prefix may be chosen at installation.
file(RELATIVE_PATH to_headers /${CMAKE_INSTALL_LIBDIR}/pkgconfig /${CMAKE_INSTALL_INCLUDEDIR})
file(WRITE ${PROJECT_BINARY_DIR}/dutiful.pc
"Name: dutiful
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Cflags: -I\${pcfiledir}/${to_headers}
Libs: -L\${pcfiledir}/.. -ldutiful -lsqlite3 -pthread
")
install(FILES ${PROJECT_BINARY_DIR}/dutiful.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
