# The installed library: one archive, or one shared library with BUILD_SHARED_LIBS, of all layers, the
# public headers, and the files by which CMake and pkg-config find them. The program does not need the
# library: it is linked with the layers.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
find_package(SQLite3 REQUIRED)
find_package(Threads REQUIRED)

set(layers text sync posix files time cron trace theory account events core store engine runtime)
set(objects)
foreach(layer ${layers})
  get_target_property(type dutiful_${layer} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    list(APPEND objects $<TARGET_OBJECTS:dutiful_${layer}>)
  endif()
endforeach()
add_library(dutiful_all ${objects})
# Before 1.0 a new minor version may change the binary interface (docs/upgrading.md).
set(soversion ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(soversion 0.${PROJECT_VERSION_MINOR})
endif()
set_target_properties(dutiful_all PROPERTIES OUTPUT_NAME dutiful EXPORT_NAME dutiful LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${soversion})
# The compiler hides what is ours and not public. This hides what it makes of the standard library's templates.
target_link_options(dutiful_all PRIVATE -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/exports.map)
set_target_properties(dutiful_all PROPERTIES LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/exports.map)
target_compile_features(dutiful_all PUBLIC cxx_std_20)
target_include_directories(dutiful_all INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(dutiful_all PUBLIC Threads::Threads PRIVATE SQLite::SQLite3)

install(TARGETS dutiful_all EXPORT dutifulTargets COMPONENT library)
install(TARGETS dutiful)
install(FILES docs/man/dutiful.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES docs/man/dutiful-tasks.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(FILES packaging/completions/dutiful.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME dutiful)
install(FILES packaging/completions/_dutiful
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES packaging/completions/dutiful.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES packaging/prometheus/dutiful.rules.yml packaging/prometheus/prometheus.yml
  DESTINATION ${CMAKE_INSTALL_DATADIR}/dutiful/prometheus)
install(FILES packaging/grafana/dutiful.json DESTINATION ${CMAKE_INSTALL_DATADIR}/dutiful/grafana)
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
install(DIRECTORY include/dutiful DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(EXPORT dutifulTargets NAMESPACE dutiful:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dutiful
  COMPONENT library)

# A shared library is linked with SQLite already; a program with the archive must be.
set(find_sqlite "find_dependency(SQLite3)")
set(link_sqlite "-lsqlite3")
if(BUILD_SHARED_LIBS)
  set(find_sqlite)
  set(link_sqlite)
endif()
file(WRITE ${PROJECT_BINARY_DIR}/dutifulConfig.cmake
"include(CMakeFindDependencyMacro)
find_dependency(Threads)
${find_sqlite}
include(\${CMAKE_CURRENT_LIST_DIR}/dutifulTargets.cmake)
")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/dutifulConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/dutifulConfig.cmake ${PROJECT_BINARY_DIR}/dutifulConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dutiful COMPONENT library)

# Paths relative to the file itself, so that the prefix may be chosen at installation.
file(RELATIVE_PATH to_headers /${CMAKE_INSTALL_LIBDIR}/pkgconfig /${CMAKE_INSTALL_INCLUDEDIR})
file(WRITE ${PROJECT_BINARY_DIR}/dutiful.pc
"Name: dutiful
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Cflags: -I\${pcfiledir}/${to_headers}
Libs: -L\${pcfiledir}/.. -ldutiful ${link_sqlite} -pthread
")
install(FILES ${PROJECT_BINARY_DIR}/dutiful.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT library)
