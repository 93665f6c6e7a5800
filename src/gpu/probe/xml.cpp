// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/xml.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace ponk::gpu {

namespace {

constexpr std::size_t deepest = 32;
constexpr std::size_t most_elements = 500'000;
constexpr std::string_view space = " \t\r\n";
constexpr std::string_view after_name = " \t\r\n/>=<\"'";

// One pass over the text, with the elements that are open on a stack.
class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    Result<XmlElement> read()
    {
        while (at_ < text_.size()) {
            const auto tag = std::min(text_.find('<', at_), text_.size());
            add_text(text_.substr(at_, tag - at_));
            at_ = tag;
            if (at_ == text_.size()) break;
            TRY(read_tag());
            if (done_) return std::move(root_);
        }
        return bad(open_.empty() ? "no element" : "its end is missing");
    }

private:
    [[nodiscard]] tl::unexpected<Error> bad(const char* what) const
    {
        return fail(ErrorKind::damaged, "invalid XML at byte {}: {}", at_, what);
    }

    Result<> skip_past(std::string_view end)
    {
        const auto found = text_.find(end, at_);
        if (found == std::string_view::npos) return bad("its end is missing");
        at_ = found + end.size();
        return {};
    }

    // at_ is at '<'.
    Result<> read_tag()
    {
        const auto rest = text_.substr(at_);
        if (rest.starts_with("<!--")) return skip_past("-->");
        if (rest.starts_with("<?")) return skip_past("?>");
        if (rest.starts_with("<![CDATA[")) {
            const auto begin = at_ + 9;
            TRY(skip_past("]]>"));
            if (!open_.empty()) open_.back().text += text_.substr(begin, at_ - 3 - begin);
            return {};
        }
        // A document type with declarations of its own inside.
        if (rest.starts_with("<!")) {
            const auto inside = rest.substr(0, rest.find('>')).find('[');
            return skip_past(inside == std::string_view::npos ? ">" : "]>");
        }
        if (rest.starts_with("</")) return close_element();
        return open_element();
    }

    std::string_view take_name()
    {
        const auto end = std::min(text_.find_first_of(after_name, at_), text_.size());
        const auto name = text_.substr(at_, end - at_);
        at_ = end;
        return name;
    }

    void skip_space() { at_ = std::min(text_.find_first_not_of(space, at_), text_.size()); }

    Result<> open_element()
    {
        ++at_;
        XmlElement element;
        element.name = take_name();
        if (element.name.empty()) return bad("a name is missing");
        if (open_.size() == deepest) return bad("elements are nested too deeply");
        if (++elements_ > most_elements) return bad("too many elements");
        while (true) {
            skip_space();
            if (at_ >= text_.size()) return bad("its end is missing");
            if (text_[at_] == '>' || text_.substr(at_, 2) == "/>") break;
            TRY(read_attribute(element));
        }
        const bool empty = text_[at_] == '/';
        at_ += empty ? 2 : 1;
        open_.push_back(std::move(element));
        if (empty) finish();
        return {};
    }

    Result<> read_attribute(XmlElement& element)
    {
        const std::string key(take_name());
        skip_space();
        if (key.empty() || at_ >= text_.size() || text_[at_] != '=') return bad("'=' is missing");
        ++at_;
        skip_space();
        const char quote = at_ < text_.size() ? text_[at_] : '\0';
        if (quote != '"' && quote != '\'') return bad("a value without quotes");
        const auto end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) return bad("a quote is missing");
        element.attributes.emplace_back(key, unescape(text_.substr(at_ + 1, end - at_ - 1)));
        at_ = end + 1;
        return {};
    }

    Result<> close_element()
    {
        at_ += 2;
        const auto name = take_name();
        if (open_.empty() || open_.back().name != name) return bad("an end without its beginning");
        skip_space();
        if (at_ >= text_.size() || text_[at_] != '>') return bad("'>' is missing");
        ++at_;
        finish();
        return {};
    }

    void finish()
    {
        auto element = std::move(open_.back());
        open_.pop_back();
        element.text = std::string(trim(element.text));
        done_ = open_.empty();
        if (done_)
            root_ = std::move(element);
        else
            open_.back().children.push_back(std::move(element));
    }

    void add_text(std::string_view piece)
    {
        if (!open_.empty()) open_.back().text += unescape(piece);
    }

    static std::string unescape(std::string_view piece)
    {
        constexpr std::pair<std::string_view, char> names[] = {
            {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
        std::string out;
        while (!piece.empty()) {
            const auto next = std::min(piece.find('&'), piece.size());
            out += piece.substr(0, next);
            piece.remove_prefix(next);
            if (piece.empty()) break;
            const auto* const known =
                std::find_if(std::begin(names), std::end(names), [&](const auto& name) {
                    return piece.starts_with(name.first);
                });
            // An entity that we do not know stays as it is written.
            out += known == std::end(names) ? '&' : known->second;
            piece.remove_prefix(known == std::end(names) ? 1 : known->first.size());
        }
        return out;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t elements_ = 0;
    std::vector<XmlElement> open_;
    XmlElement root_;
    bool done_ = false;
};

}  // namespace

const XmlElement* XmlElement::find(std::string_view path) const
{
    const auto* at = this;
    while (at && !path.empty()) {
        const auto end = std::min(path.find('/'), path.size());
        const auto wanted = path.substr(0, end);
        const auto child =
            std::find_if(at->children.begin(), at->children.end(), [&](const XmlElement& element) {
                return element.name == wanted;
            });
        at = child == at->children.end() ? nullptr : &*child;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return at;
}

std::string XmlElement::text_at(std::string_view path) const
{
    const auto* const found = find(path);
    return found ? found->text : std::string();
}

std::string XmlElement::attribute(std::string_view key) const
{
    for (const auto& [word, value] : attributes)
        if (word == key) return value;
    return {};
}

Result<XmlElement> parse_xml(std::string_view text)
{
    return Reader(text).read();
}

}  // namespace ponk::gpu
