// SPDX-License-Identifier: Apache-2.0
// Stores that somebody made up to reach what is not theirs, and stores that are broken.
#include "db/connection.hpp"
#include "importer/import_test_support.hpp"

#include <filesystem>
#include <random>
#include <sys/stat.h>

namespace ponk::importer {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* run_a = "0123456789abcdef0123456789abcdef";

class HostileTest : public ImportTest {
protected:
    void SetUp() override
    {
        write("secret.txt", "10 1 1 private");
        write("mlruns/1/meta.yaml", "experiment_id: '1'\nname: one\nlifecycle_stage: active\n");
        write(run("meta.yaml"), meta("file:///x/artifacts"));
    }
    static std::string run(const std::string& inside)
    {
        return "mlruns/1/" + std::string(run_a) + "/" + inside;
    }
    static std::string meta(const std::string& address, const std::string& id = run_a)
    {
        return "artifact_uri: " + address + "\nrun_id: " + id + "\nstart_time: 1\nstatus: 3\n";
    }
    void link(const std::string& to, const std::string& name)
    {
        const auto path = place_.path() / name;
        ASSERT_TRUE(os::make_directories(path.parent_path()));
        std::filesystem::create_symlink(to, path);
    }
    os::Path write_database(const std::string& name, const std::string& sql)
    {
        auto file = place_.path() / name;
        auto database = db::Connection::open(file, db::Role::writer).value();
        EXPECT_TRUE(database->execute(sql));
        return file;
    }
    [[nodiscard]] bool has_secret() const
    {
        if (home_.exported().find("private") != std::string::npos) return true;
        bool found = false;
        EXPECT_TRUE(home_.files.walk({}, [&](const std::string& path, std::uint64_t) {
            found = found || path.find("secret") != std::string::npos ||
                    path.find("key") != std::string::npos;
        }));
        return found;
    }

    os::Path folder_ = place_.path() / "mlruns";
};

TEST_F(HostileTest, LinksLeadNowhere)
{
    const auto secret = (place_.path() / "secret.txt").native();
    link(secret, run("params/lr"));

    const auto report = home_.imported(folder_);

    EXPECT_THAT(first_problem(report), HasSubstr("a link, which is not followed"));
    EXPECT_EQ(report["runs"].integer("added"), 0);
    EXPECT_FALSE(has_secret());
}

TEST_F(HostileTest, LinksAmongArtifactsAreLeftOutAndSaid)
{
    write("outside/key", "private");
    write(run("artifacts/good.txt"), "good");
    link((place_.path() / "secret.txt").native(), run("artifacts/secret.txt"));
    link((place_.path() / "outside").native(), run("artifacts/folder"));
    ASSERT_EQ(::mkfifo((place_.path() / run("artifacts/pipe")).c_str(), 0600), 0);

    const auto report = home_.imported(folder_);

    EXPECT_EQ(first_problem(report), "");
    EXPECT_EQ(report["files"].integer("added"), 1);
    EXPECT_THAT(to_json(report["left_out"]), HasSubstr("it is a link"));
    EXPECT_THAT(to_json(report["left_out"]), HasSubstr("it is not a regular file"));
    EXPECT_FALSE(has_secret());
}

TEST_F(HostileTest, FoldersThatAreLinksAreNoPartOfTheStore)
{
    write("outside/" + std::string(run_a) + "/meta.yaml", meta("x"));
    std::filesystem::remove_all(place_.path() / "mlruns/1" / run_a);
    link((place_.path() / "outside" / run_a).native(), "mlruns/1/" + std::string(run_a));

    const auto report = home_.imported(folder_);

    EXPECT_EQ(report["runs"].integer("found"), 0);
}

TEST_F(HostileTest, AddressesDoNotLeadOut)
{
    write("outside/artifacts/key", "private");
    const auto outside = (place_.path() / "outside/artifacts").native();
    for (const auto& address : {outside,
                                "file://" + outside,
                                std::string("../outside/artifacts"),
                                folder_.native() + "/../outside/artifacts",
                                std::string("mlflow-artifacts:/../../outside/artifacts")}) {
        write(run("meta.yaml"), meta(address));
        std::filesystem::remove_all(place_.path() / "home2");
        TestHome fresh(place_.path() / "home2");

        const auto report = fresh.imported(folder_);

        EXPECT_EQ(report["files"].integer("found"), 0) << address;
        EXPECT_EQ(report["runs"].integer("added"), 1) << address;
    }
}

TEST_F(HostileTest, ARunThatClaimsToBeAnotherIsRefused)
{
    write(run("meta.yaml"), meta("x", "../../../etc"));

    const auto report = home_.imported(folder_);

    EXPECT_THAT(first_problem(report), HasSubstr("its content names another run"));
    EXPECT_EQ(report["runs"].integer("added"), 0);
}

TEST_F(HostileTest, DatasetsAreNamesAndNoWays)
{
    write("mlruns/2/meta.yaml", "experiment_id: '2'\nname: two\n");
    write(run("inputs/i/meta.yaml"), "source_id: ../../2\nsource_type: DATASET\n");
    ASSERT_TRUE(os::make_directories(folder_ / "1" / "datasets"));

    EXPECT_THAT(first_problem(home_.imported(folder_)), HasSubstr("there is no dataset"));
}

TEST_F(HostileTest, GiantAndTwistedYamlIsRefused)
{
    for (const auto& text : {std::string(std::size_t{33} << 20, 'x'),
                             std::string(5000, '['),
                             std::string("a: &a [1,2]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\n"
                                         "d: &d [*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d]\nf: &f "
                                         "[*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f]\nh: &h [*g,*g,*g,*g]\n"
                                         "i: &i [*h,*h,*h,*h]\nj: [*i,*i,*i,*i]\n"),
                             std::string("\0\x01\xff\xfe binary", 12)}) {
        write(run("meta.yaml"), text);

        const auto report = home_.imported(folder_);

        EXPECT_EQ(report.integer("problem_count"), 1);
        EXPECT_EQ(report["runs"].integer("added"), 0);
    }
}

TEST_F(HostileTest, GarbageIsNoneOfTheFormats)
{
    std::string garbage(5000, '\0');
    std::mt19937 random(7);
    for (auto& byte : garbage)
        byte = static_cast<char>(random());
    for (const auto& text : {garbage, "{" + garbage, std::string(), std::string("hello\n")}) {
        const auto refused = home_.import({.path = write("garbage", text)});
        ASSERT_FALSE(refused);
        EXPECT_THAT(refused.error().message(), HasSubstr("cannot import"));
    }
    const auto report = home_.imported(write("garbage.jsonl", "{\"" + garbage));
    EXPECT_GT(report.integer("problem_count"), 0);
    EXPECT_FALSE(home_.import({.path = place_.path() / "absent"}));
}

TEST_F(HostileTest, ATruncatedOrDamagedDatabaseTellsSoAndChangesNothingHere)
{
    const auto file = write_database(
        "mlflow.db",
        "CREATE TABLE experiments(experiment_id INTEGER PRIMARY KEY, name TEXT,"
        " artifact_location TEXT, lifecycle_stage TEXT);"
        "CREATE TABLE runs(run_uuid TEXT PRIMARY KEY, name TEXT, user_id TEXT, status TEXT,"
        " start_time BIGINT, end_time BIGINT, lifecycle_stage TEXT, artifact_uri TEXT,"
        " experiment_id INTEGER);"
        "CREATE TABLE metrics(key TEXT, value FLOAT, timestamp BIGINT, run_uuid TEXT);"
        "CREATE TABLE params(key TEXT, value TEXT, run_uuid TEXT);"
        "CREATE TABLE tags(key TEXT, value TEXT, run_uuid TEXT);"
        "INSERT INTO experiments VALUES(1, 'one', '', 'active');"
        "INSERT INTO runs SELECT printf('%032x', value), 'n', 'u', 'FINISHED', value, 1,"
        " 'active', '', 1 FROM (WITH RECURSIVE c(value) AS (SELECT 1 UNION ALL SELECT value + 1"
        " FROM c WHERE value < 500) SELECT value FROM c);");
    const auto whole = os::read_file(file).value();
    const auto before = home_.exported();
    for (const std::size_t size : {std::size_t{50}, std::size_t{100}, std::size_t{4096}}) {
        const auto refused = home_.import({.path = write("short.db", whole.substr(0, size))});
        ASSERT_FALSE(refused) << size;
        EXPECT_THAT(refused.error().hint(), Not(HasSubstr("set aside"))) << size;
    }
    EXPECT_EQ(home_.exported(), before);
    for (unsigned seed = 1; seed <= 6; ++seed) {
        auto bytes = whole;
        std::mt19937 random(seed);
        for (int i = 0; i < 40; ++i)
            bytes[100 + random() % (bytes.size() - 100)] = static_cast<char>(random());
        std::filesystem::remove_all(place_.path() / "home3");
        TestHome fresh(place_.path() / "home3");
        // Whatever comes of it, it ends, and what is here is sound.
        static_cast<void>(fresh.import({.path = write("damaged.db", bytes)}));
        EXPECT_TRUE(fresh.history->check_integrity());
        EXPECT_FALSE(fresh.history->saw_damage());
    }
}

TEST_F(HostileTest, ViewsAndVirtualTablesAreNotRead)
{
    const auto file = write_database(
        "views.db",
        "CREATE VIEW experiments AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
        "FROM"
        " c) SELECT x AS experiment_id, x AS name, '' AS artifact_location, '' AS"
        " lifecycle_stage FROM c; CREATE TABLE runs(x); CREATE TABLE metrics(x);"
        " CREATE TABLE params(x); CREATE TABLE tags(x);");

    const auto refused = home_.import({.path = file});

    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("it has no table 'experiments'"));
}

// 100,000 characters are what a script may log; the others of the store come.
TEST_F(HostileTest, RunsWithTextsWithoutEndAreRefused)
{
    const std::string other(run_a, 31);
    const auto file = write_database(
        "huge.db",
        "CREATE TABLE experiments(experiment_id INTEGER, name TEXT, artifact_location TEXT,"
        " lifecycle_stage TEXT);"
        "CREATE TABLE runs(run_uuid TEXT, name TEXT, user_id TEXT, status TEXT, start_time INTEGER,"
        " end_time INTEGER, lifecycle_stage TEXT, artifact_uri TEXT, experiment_id INTEGER);"
        "CREATE TABLE metrics(key TEXT, value REAL, timestamp INTEGER, run_uuid TEXT);"
        "CREATE TABLE params(key TEXT, value TEXT, run_uuid TEXT);"
        "CREATE TABLE tags(key TEXT, value TEXT, run_uuid TEXT);"
        "INSERT INTO experiments VALUES(1, 'one', '', 'active');"
        "INSERT INTO runs VALUES('" +
            other + "0', 'p', 'ann', 'FINISHED', 1, 2, 'active', '', 1), ('" + other +
            "1', 'k', 'ann', 'FINISHED', 1, 2, 'active', '', 1), ('" + other +
            "2', 'm', 'ann', 'FINISHED', 1, 2, 'active', '', 1), ('" + other +
            "3', 'good', 'ann', 'FINISHED', 1, 2, 'active', '', 1);"
            "INSERT INTO params VALUES('lr', hex(zeroblob(1000000)), '" +
            other +
            "0');"
            "INSERT INTO tags VALUES(hex(zeroblob(200)), 'v', '" +
            other +
            "1');"
            "INSERT INTO metrics VALUES(hex(zeroblob(200)), 1, 1, '" +
            other + "2');");

    const auto report = home_.imported(file);

    EXPECT_EQ(report["runs"].integer("added"), 1) << to_json(report);
    EXPECT_EQ(report["runs"].integer("refused"), 3);
    const auto text = to_json(report);
    EXPECT_THAT(text, HasSubstr("'param.lr' has 2000000 characters, at most 100000 are kept"));
    EXPECT_THAT(text, HasSubstr("has 400 characters, at most 256 are kept"));
    EXPECT_THAT(text, HasSubstr("the name of metric '0000"));
}

}  // namespace
}  // namespace ponk::importer
