#include "report/html.h"

#include <algorithm>

#include <fmt/format.h>

namespace medley::report::html {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --ground: #fff; --ink: #212529; --soft: #5c6670; --line: #dfe3e8;
  --train: #aab4c0; --test: #1f60ad; --below: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #15181c; --ink: #e4e7eb; --soft: #a0a9b4; --line: #343a42;
    --train: #5d6875; --test: #6ea8ef; --below: #ff8a80; }
}
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; background: var(--ground);
  color: var(--ink); font: 16px/1.55 system-ui, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.25rem; margin: 2.6rem 0 .6rem; }
p { max-width: 46rem; } code { font-size: .92em; } a { color: var(--test); }
figure { margin: 1rem 0; } figcaption, .legend, small { color: var(--soft); font-size: .9rem; }
figure a { display: block; border: 1px solid var(--line); border-radius: 6px; background: #fff; }
figure .scrolled { max-height: 28rem; overflow-y: auto; }
figure img { max-width: 100%; display: block; margin: 0 auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .25rem .8rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; } thead th { color: var(--soft); }
td { font-variant-numeric: tabular-nums; }
td:not(:first-child) { white-space: nowrap; } .below { color: var(--below); }
.bars { display: grid; grid-template-columns: max-content 1fr; gap: .55rem .9rem;
  max-width: 46rem; align-items: center; }
.bar { display: flex; align-items: center; gap: .5rem; height: 1.15rem; font-size: .85rem; }
.bar span { height: .8rem; border-radius: 0 3px 3px 0; }
.train { background: var(--train); } .test { background: var(--test); }
.legend i { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px;
  margin: 0 .4rem 0 1rem; } .legend i:first-child { margin-left: 0; }
)css";

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n<h1>{0}</h1>\n{2}</html>\n",
      escaped(title), kStyle, body);
}

std::string section(std::string_view heading, std::string_view content) {
  return fmt::format("<h2>{}</h2>\n{}", escaped(heading), content);
}

std::string paragraph(std::string_view content) { return fmt::format("<p>{}</p>\n", content); }

std::string picture(std::string_view path, std::string_view caption, Height height) {
  return fmt::format(
      "<figure><a href=\"{0}\"{2}><img src=\"{0}\" alt=\"{1}\"></a>\n"
      "<figcaption>{1}</figcaption></figure>\n",
      escaped(path), escaped(caption), height == Height::scrolled ? " class=\"scrolled\"" : "");
}

std::string table(const std::vector<std::string>& head,
                  const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<div class=\"wide\"><table>\n<thead><tr>";
  for (const std::string& cell : head) text += fmt::format("<th>{}</th>", cell);
  text += "</tr></thead>\n";
  for (const std::vector<std::string>& row : rows) {
    text += "<tr>";
    for (const std::string& cell : row) text += fmt::format("<td>{}</td>", cell);
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string bars(const std::vector<BarGroup>& groups,
                 const std::vector<std::pair<std::string, std::string>>& legend) {
  std::string text = "<p class=\"legend\">";
  for (const auto& [series, meaning] : legend) {
    text += fmt::format("<i class=\"{}\"></i>{}", escaped(series), escaped(meaning));
  }
  text += "</p>\n<div class=\"bars\">\n";
  for (const BarGroup& group : groups) {
    text += fmt::format("<div>{}</div><div>\n", escaped(group.name));
    for (const Bar& bar : group.bars) {
      // A fifth is left for the value.
      text += fmt::format(
          "<div class=\"bar\"><span class=\"{}\" style=\"width: {:.1f}%\"></span>{:.1f}</div>\n",
          escaped(bar.series), 0.8 * std::clamp(bar.percent, 0.0, 100.0), bar.percent);
    }
    text += "</div>\n";
  }
  return text + "</div>\n";
}

}  // namespace medley::report::html
