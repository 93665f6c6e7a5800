// SPDX-License-Identifier: Apache-2.0
#include "config/text/yaml_document.hpp"

#include "base/text.hpp"
#include "config/text/flow_depth.hpp"

#include <libfyaml.h>

#include <algorithm>
#include <map>
#include <memory>

namespace ponk::config {

namespace {

// An anchored node and what a copy of it costs, known without walking it.
struct Anchored {
    Node node;
    std::size_t nodes = 0;
    std::size_t bytes = 0;
    std::size_t height = 0;
};

// Builds the tree from the parser's events: nothing is expanded before its cost is known, so a
// document that would explode is refused while it is still small.
class YamlReader {
public:
    YamlReader(std::string_view text, const TextPlaces& places, const DocumentLimits& limits)
        : text_(text), places_(places), limits_(limits)
    {
    }

    YamlRead read()
    {
        if (const auto deep = find_too_deep_flow(text_, limits_.depth)) {
            refuse_depth(places_.place(*deep));
            return std::move(result_);
        }
        fy_diag_cfg diag_config;
        fy_diag_cfg_default(&diag_config);
        diag_config.level = FYET_ERROR;
        diag_config.output_fn = [](fy_diag*, void*, const char*, size_t) {};
        const std::unique_ptr<fy_diag, decltype(&fy_diag_destroy)> diag(
            fy_diag_create(&diag_config), fy_diag_destroy);
        if (diag) fy_diag_set_collect_errors(diag.get(), true);
        fy_parse_cfg config{};
        config.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2 |
                                                       FYPCF_JSON_NONE | FYPCF_COLLECT_DIAG);
        config.diag = diag.get();
        const std::unique_ptr<fy_parser, decltype(&fy_parser_destroy)> parser(
            fy_parser_create(&config), fy_parser_destroy);
        if (!diag || !parser ||
            fy_parser_set_string(parser.get(), text_.data(), text_.size()) != 0) {
            refuse({}, "yaml-syntax", "the YAML parser could not be started");
            return std::move(result_);
        }
        read_events(parser.get(), diag.get());
        return std::move(result_);
    }

private:
    bool refuse(Place place, std::string code, std::string message, std::string hint = {})
    {
        result_.problem = {place, std::move(code), std::move(message), std::move(hint)};
        return false;
    }

    bool refuse_depth(Place place)
    {
        return refuse(
            place, "too-deep", fmt::format("values are nested deeper than {}", limits_.depth));
    }

    void read_events(fy_parser* parser, fy_diag* diag)
    {
        bool good = true;
        while (good) {
            fy_event* event = fy_parser_parse(parser);
            if (event == nullptr) break;
            good = take(event);
            fy_parser_event_free(parser, event);
        }
        if (!good) return;
        if (fy_parser_get_stream_error(parser)) {
            refuse_syntax(diag);
            return;
        }
        if (!root_) {
            root_.emplace();
            root_->type = Node::Type::map;
            root_->place = {1, 1};
        }
        result_.root = std::move(root_);
    }

    void refuse_syntax(fy_diag* diag)
    {
        void* iterator = nullptr;
        fy_diag_error* error = fy_diag_errors_iterate(diag, &iterator);
        if (error == nullptr) {
            refuse(last_place_, "yaml-syntax", "this is not YAML");
            return;
        }
        const auto line = static_cast<std::size_t>(std::max(error->line, 1));
        const auto column = static_cast<std::uint32_t>(std::max(error->column, 1));
        refuse({static_cast<std::uint32_t>(std::min(line, places_.line_count())), column},
               "yaml-syntax",
               error->msg != nullptr ? printable(error->msg) : "this is not YAML");
    }

    static std::size_t offset_of(const fy_mark* mark)
    {
        return mark != nullptr ? mark->input_pos : 0;
    }

    // The parser's marks stand behind an opening quote and behind the star of an alias.
    [[nodiscard]] std::size_t without_sign(const fy_event* event, std::size_t offset) const
    {
        if (offset == 0 || offset > text_.size()) return offset;
        const char before = text_[offset - 1];
        if (event->type == FYET_ALIAS) return before == '*' ? offset - 1 : offset;
        if (event->type != FYET_SCALAR || event->scalar.value == nullptr) return offset;
        const auto style = fy_token_scalar_style(event->scalar.value);
        const bool quoted = (style == FYSS_SINGLE_QUOTED && before == '\'') ||
                            (style == FYSS_DOUBLE_QUOTED && before == '"');
        return quoted ? offset - 1 : offset;
    }

    // An empty item has no mark of its own: it is the next line that begins with a dash.
    [[nodiscard]] Place next_item() const
    {
        const Open& list = open_.back();
        if (list.start < text_.size() && text_[list.start] == '[') return last_place_;
        std::size_t line =
            list.node.items.empty() ? last_place_.line : list.node.items.back().place.line + 1;
        for (; line <= places_.line_count(); ++line) {
            const auto text = places_.line(line);
            const std::size_t first = text.find_first_not_of(' ');
            if (first == std::string_view::npos || text[first] != '-') continue;
            return {static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(first + 1)};
        }
        return last_place_;
    }

    bool take(fy_event* event)
    {
        if (const fy_mark* mark = fy_event_start_mark(event)) {
            last_place_ = places_.place(without_sign(event, mark->input_pos));
        } else if (event->type == FYET_SCALAR && !open_.empty() && open_.back().node.is_list()) {
            last_place_ = next_item();
        }
        switch (event->type) {
        case FYET_SCALAR:
            return take_scalar(event);
        case FYET_SEQUENCE_START:
            return take_collection(event, Node::Type::list);
        case FYET_MAPPING_START:
            return take_collection(event, Node::Type::map);
        case FYET_SEQUENCE_END:
        case FYET_MAPPING_END:
            return take_end(event);
        case FYET_ALIAS:
            return take_alias(event);
        case FYET_DOCUMENT_START:
            return take_document(event);
        default:
            return true;
        }
    }

    bool take_document(fy_event* event)
    {
        if (++documents_ == 1) return true;
        // A marker alone at the end begins a document that holds nothing.
        const fy_mark* mark = fy_event_start_mark(event);
        const std::size_t offset = mark != nullptr ? mark->input_pos : text_.size();
        if (text_.substr(std::min(offset, text_.size())).starts_with("---") &&
            places_.place(offset).line == places_.line_count()) {
            return true;
        }
        return refuse(places_.place(offset),
                      "second-document",
                      "a second YAML document begins here",
                      "Keep one document in the file: remove the '---' or '...' line before it.");
    }

    // A collection or alias as a key has no meaning in any of our files.
    bool refuse_key()
    {
        return refuse(last_place_,
                      "complex-key",
                      "a list or a map cannot be a key",
                      "A key must be text. Put text with braces in quotes.");
    }

    bool check_tag(fy_event* event, bool& is_text)
    {
        fy_token* token = fy_event_get_tag_token(event);
        if (token == nullptr) return true;
        const char* handle = fy_tag_token_handle0(token);
        const char* suffix = fy_tag_token_suffix0(token);
        const std::string name =
            std::string(handle != nullptr ? handle : "") + (suffix != nullptr ? suffix : "");
        is_text = name == "!!str" || name == "!";
        static constexpr std::string_view harmless[] = {
            "!!str", "!!int", "!!bool", "!!float", "!!null", "!!seq", "!!map", "!"};
        if (std::find(std::begin(harmless), std::end(harmless), name) != std::end(harmless)) {
            return true;
        }
        const fy_mark* mark = fy_token_start_mark(token);
        return refuse(mark != nullptr ? places_.place(mark->input_pos) : last_place_,
                      "tag",
                      fmt::format("the tag '{}' is not allowed here", printable(name)),
                      "Remove it: configuration files contain only plain values.");
    }

    bool take_scalar(fy_event* event)
    {
        std::size_t length = 0;
        const char* bytes = fy_token_get_text(event->scalar.value, &length);
        const auto style = event->scalar.value != nullptr
                               ? fy_token_scalar_style(event->scalar.value)
                               : FYSS_PLAIN;
        Node node;
        node.text.assign(bytes != nullptr ? bytes : "", length);
        node.style = style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED
                         ? Node::Style::quoted
                     : style == FYSS_LITERAL || style == FYSS_FOLDED ? Node::Style::block
                                                                     : Node::Style::plain;
        node.place = last_place_;
        bool is_text = false;
        if (!check_tag(event, is_text)) return false;
        if (is_text) node.style = Node::Style::quoted;
        note_lines(event, style == FYSS_PLAIN);
        return add(std::move(node), event, 1, length, 0);
    }

    void note_lines(fy_event* event, bool plain)
    {
        const fy_mark* start = fy_event_start_mark(event);
        const fy_mark* end = fy_event_end_mark(event);
        if (start == nullptr || end == nullptr || end->line <= start->line) return;
        const std::size_t last = std::max(end->input_pos, std::size_t{1}) - 1;
        if (!plain) {
            result_.inner_lines.emplace_back(start->line + 2, places_.place(last).line);
        } else if (!result_.folded_plain && end->input_pos > start->input_pos) {
            result_.folded_plain = last_place_;
        }
    }

    bool take_collection(fy_event* event, Node::Type type)
    {
        if (open_.size() >= limits_.depth) return refuse_depth(last_place_);
        if (waits_for_key()) return refuse_key();
        bool is_text = false;
        if (!check_tag(event, is_text)) return false;
        Open open;
        open.node.type = type;
        open.node.place = last_place_;
        open.start = offset_of(fy_event_start_mark(event));
        open.anchor = anchor_of(event);
        open_.push_back(std::move(open));
        return count(1, 0);
    }

    bool take_end(fy_event* event)
    {
        Open done = std::move(open_.back());
        open_.pop_back();
        const char first = done.start < text_.size() ? text_[done.start] : '\0';
        if (const fy_mark* end = fy_event_end_mark(event);
            end != nullptr && (first == '[' || first == '{')) {
            const Place last = places_.place(end->input_pos);
            if (last.line > done.node.place.line) {
                result_.inner_lines.emplace_back(done.node.place.line + 1, last.line);
            }
        }
        if (!remember(done.anchor, done.node, done.nodes, done.bytes, done.height)) return false;
        return place_in_parent(std::move(done.node), done.nodes, done.bytes, done.height);
    }

    bool take_alias(fy_event* event)
    {
        std::size_t length = 0;
        const char* bytes = fy_token_get_text(event->alias.anchor, &length);
        const std::string name(bytes != nullptr ? bytes : "", length);
        if (++aliases_ > limits_.aliases) {
            return refuse(last_place_,
                          "too-many-aliases",
                          fmt::format("more than {} aliases ('*{}' is one too many)",
                                      limits_.aliases,
                                      printable(name)),
                          "Write the values instead of the aliases.");
        }
        const auto found = anchors_.find(name);
        if (found == anchors_.end()) {
            return refuse(last_place_,
                          "unknown-alias",
                          fmt::format("no earlier value has the anchor '&{}'", printable(name)),
                          "Put text that begins with '*' in quotes.");
        }
        const Anchored& source = found->second;
        if (waits_for_key() && !source.node.is_scalar()) return refuse_key();
        if (!count(source.nodes, source.bytes)) return false;
        if (open_.size() + source.height > limits_.depth) return refuse_depth(last_place_);
        Node copy = source.node;
        copy.place = last_place_;
        return place_in_parent(std::move(copy), source.nodes, source.bytes, source.height);
    }

    bool count(std::size_t nodes, std::size_t bytes)
    {
        nodes_ += nodes;
        bytes_ += bytes;
        if (nodes_ <= limits_.nodes && bytes_ <= 2 * limits_.bytes) return true;
        return refuse(last_place_,
                      "too-many-nodes",
                      fmt::format("with its aliases replaced the document has more than {} values",
                                  limits_.nodes),
                      "Write the values instead of aliases of aliases.");
    }

    static std::string anchor_of(fy_event* event)
    {
        fy_token* token = fy_event_get_anchor_token(event);
        if (token == nullptr) return {};
        std::size_t length = 0;
        const char* bytes = fy_token_get_text(token, &length);
        return {bytes != nullptr ? bytes : "", length};
    }

    // Anchors within anchors would otherwise keep as many copies as they are deep.
    bool remember(const std::string& anchor,
                  const Node& node,
                  std::size_t nodes,
                  std::size_t bytes,
                  std::size_t height)
    {
        if (anchor.empty()) return true;
        if (!count(nodes, bytes)) return false;
        anchors_[anchor] = {node, nodes, bytes, height};
        return true;
    }

    bool add(Node node, fy_event* event, std::size_t nodes, std::size_t bytes, std::size_t height)
    {
        if (!count(nodes, bytes)) return false;
        if (!remember(anchor_of(event), node, nodes, bytes, height)) return false;
        return place_in_parent(std::move(node), nodes, bytes, height);
    }

    struct Open {
        Node node;
        std::map<std::string, std::uint32_t, std::less<>> seen;  // key → line
        std::optional<Member> member;                            // a key that waits for its value
        std::string anchor;
        std::size_t start = 0;
        std::size_t nodes = 1;
        std::size_t bytes = 0;
        std::size_t height = 1;
    };

    [[nodiscard]] bool waits_for_key() const
    {
        return !open_.empty() && open_.back().node.is_map() && !open_.back().member;
    }

    bool place_in_parent(Node node, std::size_t nodes, std::size_t bytes, std::size_t height)
    {
        if (open_.empty()) {
            root_ = std::move(node);
            return true;
        }
        const bool is_key = waits_for_key();
        Open& parent = open_.back();
        parent.nodes += nodes;
        parent.bytes += bytes;
        parent.height = std::max(parent.height, height + 1);
        if (is_key) return place_key(parent, std::move(node));
        if (parent.node.is_list()) {
            parent.node.items.push_back(std::move(node));
        } else {
            parent.member->value = std::move(node);
            parent.node.members.push_back(std::move(*parent.member));
            parent.member.reset();
        }
        return true;
    }

    bool place_key(Open& parent, Node key)
    {
        if (key.text == "<<" && !key.is_quoted()) {
            return refuse(key.place,
                          "merge-key",
                          "'<<' does not merge maps in YAML 1.2",
                          "Write the lines instead.");
        }
        const auto [first, fresh] = parent.seen.emplace(key.text, key.place.line);
        if (!fresh) {
            return refuse(key.place,
                          "duplicate-key",
                          fmt::format("duplicate key '{}'; the first is on line {}",
                                      printable(key.text),
                                      first->second),
                          "Keep one of the two.");
        }
        parent.member.emplace();
        parent.member->key = std::move(key.text);
        parent.member->place = key.place;
        return true;
    }

    std::string_view text_;
    const TextPlaces& places_;
    const DocumentLimits& limits_;
    YamlRead result_;
    std::optional<Node> root_;
    std::vector<Open> open_;
    std::map<std::string, Anchored, std::less<>> anchors_;
    Place last_place_{1, 1};
    std::size_t documents_ = 0;
    std::size_t aliases_ = 0;
    std::size_t nodes_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace

YamlRead
read_yaml_document(std::string_view text, const TextPlaces& places, const DocumentLimits& limits)
{
    return YamlReader(text, places, limits).read();
}

}  // namespace ponk::config
