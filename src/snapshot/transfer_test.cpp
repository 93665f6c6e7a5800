// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "snapshot/snapshot_test_support.hpp"
#include "snapshot/transfer.hpp"

#include <atomic>
#include <cstring>
#include <random>

namespace ponk::snapshot {
namespace {

std::string noise(std::size_t size, unsigned seed)
{
    std::mt19937_64 random(seed);
    std::string out(size, '\0');
    for (std::size_t at = 0; at + 8 <= size; at += 8) {
        const auto word = random();
        std::memcpy(out.data() + at, &word, 8);
    }
    return out;
}

// Another store in this process, which can be cut off after some batches.
class OtherStore final : public ObjectPeer {
public:
    explicit OtherStore(const ObjectStore& store) : store_(store) {}
    Result<std::vector<Digest>> missing(const std::vector<Digest>& digests,
                                        std::stop_token stop) override
    {
        return missing_objects(store_, digests, stop);
    }
    Result<> put(ObjectBatch batch, std::stop_token) override
    {
        if (batches_left-- <= 0) return fail(ErrorKind::unavailable, "cut");
        bytes += batch.bytes.size();
        if (spoil && !batch.bytes.empty()) batch.bytes.back() ^= 1;
        return receive_batch(store_, batch);
    }
    Result<ObjectBatch> get(const std::vector<ObjectPart>& from, std::stop_token) override
    {
        if (batches_left-- <= 0) return fail(ErrorKind::unavailable, "cut");
        auto batch = TRY(read_batch(store_, from));
        bytes += batch.bytes.size();
        return batch;
    }

    std::atomic<int> batches_left{1 << 30};
    std::atomic<std::uint64_t> bytes{0};
    bool spoil = false;

private:
    const ObjectStore& store_;
};

class Transfer : public SnapshotTest {
protected:
    Transfer() : other_(*ObjectStore::open(folder_ / "other")), peer_(other_)
    {
        write("a/small.txt", "small");
        write("empty", "");
        write("text.txt", std::string(300'000, 'x'));
        write("weights.bin", noise(10 << 20, 7));  // in chunks
        write("looks-compressed", std::string(compressed_magic_) + "but is not");
    }
    Result<> send(const Digest& id)
    {
        auto all = objects_of(TRY(store_.read_manifest(id)));
        all.push_back(id);
        const auto missing = TRY(peer_.missing(all, {}));
        return send_objects(store_, peer_, missing, {}, {});
    }
    static constexpr std::string_view compressed_magic_{"\x89PONKz1\n", 8};
    ObjectStore other_;
    OtherStore peer_;
};

TEST_F(Transfer, ATreeArrivesAsItIs)
{
    const auto id = take();

    must(send(id));

    must(materialise(other_, id, folder_ / "there").map([](const auto&) {}));
    EXPECT_EQ(tree_of(folder_ / "there"), tree_of(project_));
    EXPECT_LT(peer_.bytes, (10U << 20U) + 100'000) << "text travels compressed";
}

TEST_F(Transfer, WhatIsThereIsNotSentAgain)
{
    must(send(take()));
    peer_.bytes = 0;
    write("a/small.txt", "other");

    must(send(take()));

    EXPECT_LT(peer_.bytes, 2000U) << "the changed file and the manifest";
}

TEST_F(Transfer, AfterACutItGoesOnWhereItWas)
{
    const auto id = take();
    peer_.batches_left = 2;
    EXPECT_FALSE(send(id));
    const auto before = peer_.bytes.load();
    peer_.batches_left = 1 << 30;

    must(send(id));

    EXPECT_LE(peer_.bytes, (10U << 20U) + 100'000 + before) << "nothing but what was under way";
    must(materialise(other_, id, folder_ / "there").map([](const auto&) {}));
    EXPECT_EQ(tree_of(folder_ / "there"), tree_of(project_));
}

TEST_F(Transfer, BytesThatChangedOnTheWayGetNoName)
{
    peer_.spoil = true;

    const auto sent = send(take());

    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().kind(), ErrorKind::damaged);
    for (const auto& digest : objects_of(*store_.read_manifest(take()))) {
        if (*other_.contains(digest)) {
            EXPECT_TRUE(other_.read(digest));
        }
    }
}

// Outputs become objects by hard link, of any size.
TEST_F(Transfer, ALargeObjectComesInPartsAndResumes)
{
    const auto content = noise(20 << 20, 9);
    write("out/model", content);
    const auto stored = store_tree(store_, project_ / "out");
    ASSERT_TRUE(stored);
    const auto digest = store_.read_manifest(stored->id)->find("model")->digest;
    const auto other = *ObjectStore::open(folder_ / "home");
    OtherStore host(store_);
    host.batches_left = 1;
    EXPECT_FALSE(fetch_objects(other, host, {digest}, {}, {}));
    EXPECT_EQ(received_so_far(other, digest), longest_part);
    host.batches_left = 1 << 30;
    host.bytes = 0;

    must(fetch_objects(other, host, {digest, stored->id}, {}, {}));

    EXPECT_EQ(*other.read(digest), content);
    EXPECT_LT(host.bytes, content.size() - longest_part + 1000);
    EXPECT_EQ(received_so_far(other, digest), 0U);
}

// The manifest of a tree with very many files is one object, compressed, of any size.
TEST_F(Transfer, ACompressedObjectOfAnySizeArrives)
{
    const auto text = to_hex(noise(5 << 20, 11));
    const auto smaller = text.substr(0, 1 << 20);
    std::string repeated;
    for (int i = 0; i < 12; ++i)
        repeated += smaller;
    const auto in_parts = *store_.put(text);
    const auto whole = *store_.put(repeated);

    must(send_objects(store_, peer_, {whole, in_parts}, {}, {}));

    EXPECT_EQ(*other_.read(whole), repeated);
    EXPECT_EQ(*other_.read(in_parts), text);
}

TEST_F(Transfer, AnObjectThatExpandsToSomethingElseIsRefused)
{
    const auto digest = *store_.put(std::string(20 << 20, 'x'));
    const auto file = *os::read_file(store_.root() / "objects" / object_name(digest));
    const auto receive = [&](std::string bytes) {
        return receive_batch(other_, {{{digest, 0, bytes.size(), bytes.size()}}, bytes});
    };
    auto longer = file;
    longer[12] = '\x01';  // a size of four gigabytes more
    EXPECT_FALSE(receive(longer));
    auto shorter = file;
    shorter[8] = '\x01';
    EXPECT_FALSE(receive(shorter));
    EXPECT_FALSE(receive(file.substr(0, file.size() - 1)));
    EXPECT_FALSE(receive(file + "x"));
    EXPECT_FALSE(receive(file.substr(0, 10)));
    EXPECT_FALSE(*other_.contains(digest));
    EXPECT_TRUE(receive(file));
}

TEST_F(Transfer, OnlyWhatIsMeantForThemIsAmongWhatOthersName)
{
    const auto a = sha256("a");
    const auto b = sha256("b");

    EXPECT_EQ(among({b, sha256("another project's"), b}, {a, b}), std::vector<Digest>{b});
}

TEST_F(Transfer, PartsWithoutSenseAreRefused)
{
    const auto digest = sha256("x");
    for (const ObjectPart part : {ObjectPart{digest, 0, 2, 1},
                                  ObjectPart{digest, 5, 1, 3},
                                  ObjectPart{digest, 0, 4, 4},
                                  ObjectPart{digest, 0, 0, 9},
                                  ObjectPart{digest, ~std::uint64_t{0}, 1, 4}}) {
        EXPECT_FALSE(receive_batch(other_, {{part}, "x"})) << part.offset << " " << part.size;
    }
    EXPECT_FALSE(*other_.contains(digest));
}

}  // namespace
}  // namespace ponk::snapshot
