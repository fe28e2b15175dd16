#include <troupe/base/detail/fault_text.hpp>

#include <charconv>

namespace troupe::detail {
namespace {

// Cuts the text before the next `separator` off the front of `text`.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

Error wrong(std::string_view part, std::string_view why) {
  return Error(ErrorCode::invalid_argument, "in '" + std::string(part) + "': " + std::string(why) +
                                                "; the form is name=fail|throw|kill|stop[@n]"
                                                "[:p=0.1,seed=7,times=2,skip=3]");
}

template <class T>
bool parse_number(std::string_view text, T& number) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

bool parse_kind(std::string_view text, FaultKind& kind) {
  if (text == "fail") {
    kind = FaultKind::fail;
  } else if (text == "throw") {
    kind = FaultKind::throw_error;
  } else if (text == "kill") {
    kind = FaultKind::kill;
  } else if (text == "stop") {
    kind = FaultKind::stop;
  } else {
    return false;
  }
  return true;
}

Status parse_option(std::string_view option, FaultAction& action) {
  std::string_view value = option;
  const std::string_view name = trim(cut(value, '='));
  value = trim(value);
  bool good = false;
  if (name == "p") {
    good = parse_number(value, action.probability);
  } else if (name == "seed") {
    good = parse_number(value, action.seed);
  } else if (name == "times") {
    good = parse_number(value, action.times);
  } else if (name == "skip") {
    good = parse_number(value, action.skip);
  } else {
    return wrong(option, "there is no option '" + std::string(name) + "'");
  }
  if (!good)
    return wrong(option, "'" + std::string(value) + "' is not a number for it");
  return ok();
}

Result<std::pair<std::string, FaultAction>> parse_fault(std::string_view part) {
  std::string_view rest = part;
  const std::string_view name = trim(cut(rest, '='));
  if (name.empty() || rest.empty())
    return wrong(part, "name=kind is missing");
  std::string_view head = cut(rest, ':');
  const bool counted = head.find('@') != std::string_view::npos;
  const std::string_view kind = trim(cut(head, '@'));
  FaultAction action;
  if (!parse_kind(kind, action.kind))
    return wrong(part, "unknown kind '" + std::string(kind) + "'");
  if (counted) {
    if (!parse_number(trim(head), action.skip) || action.skip == 0)
      return wrong(part, "'@" + std::string(head) + "' is not a hit counted from 1");
    --action.skip;
  }
  while (!rest.empty())
    TROUPE_RETURN_IF_ERROR(parse_option(cut(rest, ','), action));
  return std::pair(std::string(name), action);
}

}  // namespace

Result<std::vector<std::pair<std::string, FaultAction>>> parse_faults(std::string_view text) {
  std::vector<std::pair<std::string, FaultAction>> faults;
  while (!text.empty()) {
    const std::string_view part = trim(cut(text, ';'));
    if (part.empty())
      continue;
    TROUPE_TRY(fault, parse_fault(part));
    faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace troupe::detail
