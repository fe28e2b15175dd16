#include <troupe/tune/report/progress.hpp>
#include <troupe/tune/report/text.hpp>

#include <algorithm>
#include <string_view>

namespace troupe::tune {

namespace {

constexpr std::size_t max_errors_shown = 5;

std::string_view color_of(std::string_view state) {
  if (state == "RUNNING")
    return "\x1b[36m";
  if (state == "TERMINATED")
    return "\x1b[32m";
  if (state == "PAUSED")
    return "\x1b[33m";
  if (state == "ERROR")
    return "\x1b[31m";
  return "\x1b[2m";
}

uint64_t created(const ProgressSnapshot& snapshot) {
  uint64_t sum = 0;
  for (const ProgressGroup& group : snapshot.groups)
    sum += group.count;
  return sum;
}

std::string state_counts(const ProgressSnapshot& snapshot, std::string_view separator, bool color) {
  std::string text;
  for (const ProgressGroup& group : snapshot.groups) {
    if (group.count == 0)
      continue;
    if (!text.empty())
      text += separator;
    const std::string part = std::to_string(group.count) + ' ' + group.state;
    if (color) {
      text += color_of(group.state);
      text += part + "\x1b[0m";
    } else {
      text += part;
    }
  }
  return text.empty() ? "no trial yet" : text;
}

std::string of_planned(const ProgressSnapshot& snapshot) {
  if (!snapshot.planned)
    return plural(created(snapshot), "trial");
  return std::to_string(created(snapshot)) + " of " + plural(*snapshot.planned, "trial");
}

std::string cpus(const ProgressSnapshot& snapshot) {
  return short_number(snapshot.cpus_used) + '/' + short_number(snapshot.cpus_total) + " CPUs";
}

std::string best_text(const ProgressBest& best) {
  return best.trial + " with " + best.metric + '=' + best.value + " at iteration " +
         std::to_string(best.iteration) +
         (best.feasible ? "" : ", which breaks a constraint, as do all others");
}

/// The table with the first `params` parameter columns.
TextTable make_table(const ProgressSnapshot& snapshot, std::size_t params) {
  TextTable table;
  table.rigid = 2;  // a trial whose number is cut off can not be told from the others
  const auto column = [&](std::string name, Align align) {
    table.header.push_back(std::move(name));
    table.align.push_back(align);
  };
  column("Trial name", Align::left);
  column("Status", Align::left);
  for (std::size_t i = 0; i < params; ++i)
    column(snapshot.param_names[i], Align::right);
  column("iter", Align::right);
  column("time (s)", Align::right);
  for (const std::string& name : snapshot.metric_names)
    column(name, Align::right);

  const auto cell = [](const std::vector<std::string>& cells, std::size_t i) {
    return i < cells.size() ? cells[i] : std::string();
  };
  for (const ProgressGroup& group : snapshot.groups) {
    for (const ProgressRow& row : group.rows) {
      std::vector<std::string> cells{row.trial, group.state};
      for (std::size_t i = 0; i < params; ++i)
        cells.push_back(cell(row.params, i));
      cells.push_back(row.iteration ? std::to_string(*row.iteration) : "");
      cells.push_back(row.time_total_s ? short_number(*row.time_total_s) : "");
      for (std::size_t i = 0; i < snapshot.metric_names.size(); ++i)
        cells.push_back(cell(row.metrics, i));
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

/// Trials that have no row, by state: "12 more TERMINATED, 3 more PENDING".
std::string not_shown(const ProgressSnapshot& snapshot) {
  std::string text;
  for (const ProgressGroup& group : snapshot.groups) {
    if (group.count <= group.rows.size())
      continue;
    if (!text.empty())
      text += ", ";
    text += std::to_string(group.count - group.rows.size()) + " more " + group.state;
  }
  return text;
}

/// Cuts to `height` lines and says so in the last one.
std::string limit_height(std::string text, std::size_t height) {
  if (height == 0)
    return text;
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (lines <= height)
    return text;
  std::size_t end = 0;
  for (std::size_t line = 0; line + 1 < height; ++line)
    end = text.find('\n', end) + 1;
  return text.substr(0, end) + "... " + plural(lines - height + 1, "more line") + '\n';
}

}  // namespace

std::string render_progress(const ProgressSnapshot& snapshot, const ProgressStyle& style) {
  std::string out;
  const auto line = [&](std::string_view text) {
    out += fit_text(terminal_safe(text), style.width) + '\n';
  };
  const std::string head = "Trial status: ";
  const std::string tail = " (" + of_planned(snapshot) + ")";
  const std::string plain = head + state_counts(snapshot, " | ", false) + tail;
  // Colour takes no columns; a line that has to be cut goes without.
  if (style.color && display_width(plain) <= style.width)
    out += head + state_counts(snapshot, " | ", true) + tail + '\n';
  else
    line(plain);
  line("Time: " + local_time_text(snapshot.wall_ms) + ", running for " +
       duration_text(snapshot.run_time_s) + ". Resources: " + cpus(snapshot) + ". " +
       plural(snapshot.results, "result") + ", " + plural(snapshot.actor_starts, "actor start"));
  if (snapshot.best) {
    line("Best so far: " + best_text(*snapshot.best));
    if (!snapshot.best->config.empty())
      line("  " + snapshot.best->config);
  }
  if (!snapshot.waiting.empty())
    line("Waiting: " + snapshot.waiting);

  std::size_t params = snapshot.param_names.size();
  while (params > 0 && least_table_width(make_table(snapshot, params)) > style.width)
    --params;
  const TextTable table = make_table(snapshot, params);
  if (!table.rows.empty()) {
    out += '\n' + render_table(table, style.width);
    if (const std::string rest = not_shown(snapshot); !rest.empty())
      line(rest);
    if (params < snapshot.param_names.size())
      line(plural(snapshot.param_names.size() - params, "parameter") + " not shown: too narrow");
  }
  if (!snapshot.errors.empty()) {
    out += '\n';
    line("Failed: " + plural(snapshot.errors.size(), "trial"));
    for (std::size_t i = 0; i < std::min(snapshot.errors.size(), max_errors_shown); ++i) {
      const ProgressError& error = snapshot.errors[i];
      line("  " + error.trial + " (" + plural(error.failures, "failure") +
           "): " + one_line(error.message));
      line("    see " + error.file);
    }
    if (snapshot.errors.size() > max_errors_shown)
      line("  ... " + std::to_string(snapshot.errors.size() - max_errors_shown) + " more");
  }
  return limit_height(std::move(out), style.height);
}

std::string progress_line(const ProgressSnapshot& snapshot) {
  std::string text = local_time_text(snapshot.wall_ms) + ' ' + snapshot.experiment + ": " +
                     state_counts(snapshot, ", ", false) + " (" + of_planned(snapshot) + "), " +
                     plural(snapshot.results, "result") + ", " + cpus(snapshot) + ", " +
                     duration_text(snapshot.run_time_s);
  if (snapshot.best)
    text += "; best " + best_text(*snapshot.best);
  if (!snapshot.waiting.empty())
    text += "; waiting: " + snapshot.waiting;
  return terminal_safe(text);
}

}  // namespace troupe::tune
