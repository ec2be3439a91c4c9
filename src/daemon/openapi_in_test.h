// Holds answers to the description of the API.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "daemon/openapi.h"
#include "time/iso8601.h"

namespace dutiful {

// The part of JSON Schema that openapi.json uses. A keyword that it does not know is a complaint,
// so that no part of the description goes unchecked.
class OpenApi {
 public:
  using Json = nlohmann::json;

  OpenApi() : document_(Json::parse(openapi_document())) {}

  [[nodiscard]] const Json& document() const { return document_; }

  // What is wrong with an answer, one line each.
  [[nodiscard]] std::vector<std::string> complaints(const std::string& path,
                                                    unsigned status,
                                                    const std::string& type,
                                                    const std::string& body) const {
    std::vector<std::string> complaints;
    const Json& responses = document_.at("paths").at(path).at("get").at("responses");
    const auto response = responses.find(std::to_string(status));
    if (response == responses.end()) return {"status " + std::to_string(status)};
    const Json& content = resolved(*response).at("content");
    const std::string media = type.substr(0, type.find(';'));
    if (!content.contains(media)) return {"content type " + type};
    if (media != "application/json") return {};
    const Json value = Json::parse(body, nullptr, false);
    if (value.is_discarded()) return {"no JSON: " + body};
    check(value, content.at(media).at("schema"), "", complaints);
    return complaints;
  }

 private:
  // A response, or the one that it refers to.
  [[nodiscard]] const Json& resolved(const Json& response) const {
    if (!response.contains("$ref")) return response;
    const std::string name = response.at("$ref");
    return document_.at("components").at("responses").at(name.substr(name.rfind('/') + 1));
  }

  static bool has_type(const Json& value, const std::string& type) {
    if (type == "null") return value.is_null();
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_number_integer();
    if (type == "boolean") return value.is_boolean();
    if (type == "array") return value.is_array();
    return type == "object" && value.is_object();
  }

  void check(const Json& value,
             const Json& schema,
             const std::string& where,
             std::vector<std::string>& complaints) const {
    const auto complain = [&](const std::string& what) {
      complaints.push_back(where + ": " + what + ": " + value.dump());
    };
    for (const auto& [keyword, rule] : schema.items()) {
      if (keyword == "$ref") {
        const std::string name = rule.get<std::string>();
        check(value,
              document_.at("components").at("schemas").at(name.substr(name.rfind('/') + 1)),
              where,
              complaints);
      } else if (keyword == "type") {
        const std::vector<std::string> types = rule.is_array()
                                                   ? rule.get<std::vector<std::string>>()
                                                   : std::vector{rule.get<std::string>()};
        if (std::ranges::none_of(types, [&](const auto& type) { return has_type(value, type); })) {
          complain("not " + rule.dump());
        }
      } else if (keyword == "enum") {
        if (std::ranges::find(rule, value) == rule.end()) complain("not one of " + rule.dump());
      } else if (keyword == "minimum") {
        if (value.is_number() && value < rule) complain("less than " + rule.dump());
      } else if (keyword == "format") {
        if (rule != "date-time") complain("unknown format " + rule.dump());
        if (value.is_string() && !parse_timestamp(value.get<std::string>())) complain("no time");
      } else if (keyword == "items") {
        if (!value.is_array()) continue;
        for (const Json& item : value) check(item, rule, where + "[]", complaints);
      } else if (keyword == "prefixItems") {
        if (!value.is_array()) continue;
        for (std::size_t i = 0; i < std::min(value.size(), rule.size()); ++i) {
          check(value[i], rule[i], where + "[" + std::to_string(i) + "]", complaints);
        }
      } else if (keyword == "minItems") {
        if (value.is_array() && value.size() < rule) complain("fewer than " + rule.dump());
      } else if (keyword == "maxItems") {
        if (value.is_array() && value.size() > rule) complain("more than " + rule.dump());
      } else if (keyword == "anyOf") {
        const bool fits = std::ranges::any_of(rule, [&](const Json& alternative) {
          std::vector<std::string> inner;
          check(value, alternative, where, inner);
          return inner.empty();
        });
        if (!fits) complain("fits no alternative");
      } else if (keyword == "required") {
        for (const Json& name : rule) {
          if (value.is_object() && !value.contains(name)) complain("lacks " + name.dump());
        }
      } else if (keyword == "properties") {
        if (!value.is_object()) continue;
        for (const auto& [name, member] : value.items()) {
          if (rule.contains(name)) {
            check(member, rule.at(name), where + "." + name, complaints);
          } else if (schema.value("additionalProperties", true) == false) {
            complain("has the unknown member " + name);
          }
        }
      } else if (keyword != "description" && keyword != "additionalProperties" &&
                 keyword != "default") {
        complain("the unknown keyword " + keyword);
      }
    }
  }

  Json document_;
};

}  // namespace dutiful
