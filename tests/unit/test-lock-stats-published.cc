// SPDX-License-Identifier: Apache-2.0
//
// Statistics that a process publishes: who can read them, when they go, and
// that a reader survives whatever it finds there.
#include <fcntl.h>
#include <ovsthread/lock-stats.h>
#include <ovsthread/log.h>
#include <ovsthread/mutex.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "in-process.h"
#include "lock-stats-memory.h"

namespace ovsthread {
namespace {

using stats::Table;

std::string path_of(pid_t pid) {
  return "/dev/shm/ovsthread-stats." + std::to_string(pid);
}

bool exists(pid_t pid) { return access(path_of(pid).c_str(), F_OK) == 0; }

// The error, and the number of entries.
int read_stats(pid_t pid, size_t* n = nullptr) {
  ovs_lock_stats* stats = nullptr;
  int error = ovs_lock_stats_snapshot_of(pid, &stats);
  if (error == 0) {
    if (n != nullptr) *n = stats->n;
    ovs_lock_stats_free(stats);
  }
  return error;
}

std::vector<pid_t> processes() {
  std::vector<pid_t> pids(1000);
  pids.resize(std::min(pids.size(),
                       ovs_lock_stats_processes(pids.data(), pids.size())));
  return pids;
}

bool is_listed(pid_t pid) {
  std::vector<pid_t> pids = processes();
  return std::count(pids.begin(), pids.end(), pid) == 1;
}

void expect_success(pid_t child) {
  int status;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Each test runs in a process of its own that publishes.
class Published : public testing::Test {
 protected:
  void SetUp() override {
    if (access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "no /dev/shm";
  }

  template <class Body>
  static void publish(Body body) {
    in_process([&] {
      ASSERT_EQ(ovs_lock_stats_set(OVS_LOCK_STATS_PUBLISH), 0);
      body();
    });
  }

  static void lock_once() {
    static Mutex mutex;
    set_lock_name(mutex, "published");
    MutexLock guard(mutex);
  }
};

TEST_F(Published, IsWhatTheProcessHasCounted) {
  publish([] {
    lock_once();
    size_t n = 0;
    EXPECT_EQ(read_stats(getpid(), &n), 0);
    EXPECT_EQ(n, 1u);
    EXPECT_TRUE(is_listed(getpid()));
    ovs_lock_stats* stats;
    ASSERT_EQ(ovs_lock_stats_snapshot_of(getpid(), &stats), 0);
    EXPECT_STREQ(stats->entries[0].lock, "published");
    EXPECT_EQ(stats->entries[0].acquisitions, 1u);
    EXPECT_EQ(stats->entries[0].pid, getpid());
    ovs_lock_stats_free(stats);
    ovs_lock_stats_reset();
    EXPECT_EQ(read_stats(getpid(), &n), 0);
    EXPECT_EQ(n, 0u);
  });
}

// A folder has the name that the file is to have.
TEST_F(Published, StaysUnpublishedIfItCannotHaveItsName) {
  publish([] {
    pid_t child = fork();
    if (child == 0) {
      ASSERT_EQ(mkdir(path_of(getpid()).c_str(), 0700), 0);
      // What was published before the fork is to be published here, too.
      EXPECT_EQ(ovs_lock_stats_get(), OVS_LOCK_STATS_PUBLISH);
      lock_once();
      EXPECT_EQ(ovs_lock_stats_get(), OVS_LOCK_STATS_ON);
      EXPECT_EQ(ovs_lock_stats_set(OVS_LOCK_STATS_PUBLISH), EEXIST);
      EXPECT_EQ(rmdir(path_of(getpid()).c_str()), 0);
      EXPECT_EQ(ovs_lock_stats_set(OVS_LOCK_STATS_PUBLISH), 0);
      exit(report_to_parent());
    }
    expect_success(child);
  });
}

TEST_F(Published, OnlyItsUserCanOpenIt) {
  publish([] {
    struct stat status;
    ASSERT_EQ(stat(path_of(getpid()).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode, mode_t{S_IFREG | 0600});
    EXPECT_EQ(status.st_uid, geteuid());
    EXPECT_EQ(status.st_size, static_cast<off_t>(sizeof(Table)));
  });
}

TEST_F(Published, WhatIsAnotherUsersIsLeftAlone) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  publish([] {
    ASSERT_EQ(chown(path_of(getpid()).c_str(), 12345, 12345), 0);
    EXPECT_EQ(read_stats(getpid()), EACCES);
    EXPECT_FALSE(is_listed(getpid()));
    EXPECT_TRUE(exists(getpid()));
  });
}

TEST_F(Published, GoesWhenSwitchedOffAndAtTheEnd) {
  publish([] {
    EXPECT_TRUE(exists(getpid()));
    EXPECT_EQ(ovs_lock_stats_set(OVS_LOCK_STATS_PUBLISH), 0);
    EXPECT_EQ(ovs_lock_stats_set(OVS_LOCK_STATS_ON), 0);
    EXPECT_EQ(read_stats(getpid()), ENOENT);
    EXPECT_FALSE(is_listed(getpid()));
    EXPECT_EQ(ovs_lock_stats_set(OVS_LOCK_STATS_PUBLISH), 0);
    EXPECT_EQ(read_stats(getpid()), 0);
    EXPECT_EQ(ovs_lock_stats_set(OVS_LOCK_STATS_OFF), 0);
    EXPECT_EQ(read_stats(getpid()), ENOENT);
    ovs_lock_stats_set(OVS_LOCK_STATS_PUBLISH);
    pid_t child = fork();
    if (child == 0) {
      lock_once();
      exit(exists(getpid()) ? 0 : 1);
    }
    expect_success(child);
    EXPECT_FALSE(exists(child));
    EXPECT_TRUE(exists(getpid()));
  });
}

// The child's counts are its own, the parent's stay.
TEST_F(Published, AChildPublishesItsOwn) {
  publish([] {
    for (int i = 0; i < 5; i++) lock_once();
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
      bool early = exists(getpid());
      lock_once();
      ovs_lock_stats* stats;
      bool ok = !early && ovs_lock_stats_snapshot_of(getpid(), &stats) == 0 &&
                stats->n == 1 && stats->entries[0].acquisitions == 1;
      if (!ok) exit(1);
      ovs_lock_stats_free(stats);
      ok = ovs_lock_stats_snapshot_of(parent, &stats) == 0 &&
           stats->entries[0].acquisitions == 5;
      if (!ok) exit(1);
      ovs_lock_stats_free(stats);
      exit(0);
    }
    expect_success(child);
  });
}

TEST_F(Published, AChildOfOneThatOnlyCountsCan) {
  in_process([] {
    ASSERT_EQ(ovs_lock_stats_set(OVS_LOCK_STATS_ON), 0);
    pid_t child = fork();
    if (child == 0) {
      lock_once();
      bool ok = ovs_lock_stats_set(OVS_LOCK_STATS_PUBLISH) == 0;
      lock_once();
      ovs_lock_stats* stats;
      ok = ok && ovs_lock_stats_snapshot_of(getpid(), &stats) == 0 &&
           stats->n == 1 && stats->entries[0].acquisitions == 2;
      if (!ok) exit(1);
      ovs_lock_stats_free(stats);
      exit(0);
    }
    expect_success(child);
  });
}

// As it can't say so, its mode does.  It goes on, whatever takes locks then.
TEST_F(Published, AChildThatCannotPublishCounts) {
  publish([] {
    static Mutex of_handler;
    ovsthread_set_log_handler([](ovsthread_log_level, const char*,
                                 void*) { MutexLock guard(of_handler); },
                              nullptr);
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit small = {sizeof(Table) - 1, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      lock_once();
      exit(ovs_lock_stats_get() == OVS_LOCK_STATS_ON &&
                   lock_stats()[0].acquisitions == 1
               ? 0
               : 1);
    }
    expect_success(child);
  });
}

TEST_F(Published, ALimitOfFileSizesIsAnErrorAndNoSignal) {
  in_process([] {
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit small = {sizeof(Table) - 1, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_EQ(ovs_lock_stats_set(OVS_LOCK_STATS_PUBLISH), EFBIG);
    EXPECT_EQ(ovs_lock_stats_set(OVS_LOCK_STATS_ON), 0);
    lock_once();
    EXPECT_EQ(lock_stats().size(), 1u);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  });
}

TEST_F(Published, WhatAKilledProcessLeavesIsRemoved) {
  publish([] {
    pid_t child = fork();
    if (child == 0) {
      lock_once();
      _exit(0);
    }
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_TRUE(exists(child));
    EXPECT_FALSE(is_listed(child));
    EXPECT_FALSE(exists(child));
    EXPECT_EQ(read_stats(child), ESRCH);
  });
}

// While it exists, the first SIZE bytes of TABLE are what the calling process
// publishes.
class Planted {
 public:
  explicit Planted(const Table& table, size_t size = sizeof(Table))
      : path_(path_of(getpid())) {
    unlink(path_.c_str());
    fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    EXPECT_EQ(write(fd_, &table, size), static_cast<ssize_t>(size));
    EXPECT_EQ(flock(fd_, LOCK_EX), 0);
  }
  ~Planted() {
    unlink(path_.c_str());
    abandon();
  }
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;

  // As a process that is killed.
  void abandon() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  std::string path_;
  int fd_;
};

std::unique_ptr<Table> published_table() {
  auto table = std::make_unique<Table>();
  stats::initialise_table(*table);
  table->header.published.store(true, kRelaxed);
  return table;
}

// The number of an ended process has been given to another one.
TEST_F(Published, AReusedProcessNumberIsNoticed) {
  in_process([] {
    auto table = published_table();
    {
      Planted planted(*table);
      EXPECT_EQ(read_stats(getpid()), 0);
      planted.abandon();
      EXPECT_EQ(read_stats(getpid()), ENOENT);
      EXPECT_FALSE(exists(getpid()));
    }
    // Nor does it keep the process from publishing.
    Planted planted(*table);
    planted.abandon();
    EXPECT_EQ(ovs_lock_stats_set(OVS_LOCK_STATS_PUBLISH), 0);
    EXPECT_EQ(read_stats(getpid()), 0);
  });
}

// Of the same number, in another namespace.
TEST_F(Published, WhatALivingProcessPublishesIsNotReplaced) {
  in_process([] {
    auto table = published_table();
    Planted planted(*table);
    EXPECT_EQ(ovs_lock_stats_set(OVS_LOCK_STATS_PUBLISH), EEXIST);
    EXPECT_EQ(read_stats(getpid()), 0);
  });
}

// What executes another program has not ended, and publishes no more; nor does
// an ended process that nobody has waited for.
TEST_F(Published, GoesWithTheProgramAndNotWithTheProcess) {
  publish([] {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
      lock_once();
      dup2(ends[1], STDOUT_FILENO);
      execlp("sh", "sh", "-c", "echo started; exec sleep 100", nullptr);
      _exit(1);
    }
    char byte;
    ASSERT_EQ(read(ends[0], &byte, 1), 1);
    EXPECT_TRUE(exists(child));
    EXPECT_EQ(read_stats(child), ENOENT);
    EXPECT_FALSE(exists(child));
    EXPECT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);

    child = fork();
    if (child == 0) {
      lock_once();
      _exit(0);
    }
    siginfo_t info;
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT),
              0);
    EXPECT_TRUE(exists(child));
    EXPECT_FALSE(is_listed(child));
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
  });
}

// A child that publishes nothing does not keep its parent's statistics alive.
TEST_F(Published, GoesWithTheProcessAndNotWithItsChildren) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t parent = fork();
  if (parent == 0) {
    ovs_lock_stats_set(OVS_LOCK_STATS_PUBLISH);
    lock_once();
    pid_t child = fork();
    if (child == 0) {
      for (;;) pause();
    }
    _exit(write(ends[1], &child, sizeof child) == sizeof child ? 0 : 1);
  }
  pid_t child;
  ASSERT_EQ(read(ends[0], &child, sizeof child), ssize_t{sizeof child});
  int status;
  EXPECT_EQ(waitpid(parent, &status, 0), parent);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(exists(parent));
  // The child may not have got to its part of fork() yet.
  while (is_listed(parent)) sched_yield();
  EXPECT_FALSE(exists(parent));
  EXPECT_EQ(kill(child, SIGKILL), 0);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(Published, NoProcessAndNothingPublished) {
  EXPECT_EQ(read_stats(0), ESRCH);
  EXPECT_EQ(read_stats(-1), ESRCH);
  EXPECT_EQ(read_stats(getppid()), ENOENT);
  in_process([] { EXPECT_EQ(read_stats(getpid()), ENOENT); });
}

TEST_F(Published, WhatIsNoTableIsRefused) {
  in_process([] {
    auto table = std::make_unique<Table>();
    auto refused = [&](size_t size = sizeof(Table)) {
      Planted planted(*table, size);
      EXPECT_FALSE(is_listed(getpid()));
      return read_stats(getpid()) == EPROTO;
    };
    auto change = [&](auto member) {
      table = published_table();
      table->header.*member += 1;
      return refused();
    };
    table = published_table();
    {
      Planted planted(*table);
      EXPECT_EQ(read_stats(getpid()), 0);
    }
    for (size_t size : {size_t{0}, size_t{7}, sizeof table->header,
                        sizeof *table / 2, sizeof *table - 1}) {
      EXPECT_TRUE(refused(size)) << size;
    }
    EXPECT_TRUE(change(&stats::Header::magic));
    EXPECT_TRUE(change(&stats::Header::version));
    EXPECT_TRUE(change(&stats::Header::size));
    EXPECT_TRUE(change(&stats::Header::pid));
    // Nor is a link followed, not even to a good one.
    table = published_table();
    Planted planted(*table);
    std::string target = "/dev/shm/ovsthread-test." + std::to_string(getpid());
    ASSERT_EQ(rename(path_of(getpid()).c_str(), target.c_str()), 0);
    ASSERT_EQ(symlink(target.c_str(), path_of(getpid()).c_str()), 0);
    EXPECT_EQ(read_stats(getpid()), EPROTO);
    unlink(target.c_str());
    // Nor is anybody waited for who might write.
    unlink(path_of(getpid()).c_str());
    ASSERT_EQ(mkfifo(path_of(getpid()).c_str(), 0600), 0);
    EXPECT_EQ(read_stats(getpid()), EPROTO);
    EXPECT_FALSE(is_listed(getpid()));
  });
}

// Numbers and texts of any value: read and formatted all the same.
TEST_F(Published, AnyContentIsSurvived) {
  const char* given = getenv("OVSTHREAD_TEST_SEED");
  unsigned seed = given ? static_cast<unsigned>(strtoul(given, nullptr, 0))
                        : std::random_device()();
  std::printf("# seed %u\n", seed);
  in_process([&] {
    std::mt19937_64 random(seed);
    auto table = std::make_unique<Table>();
    for (int round = 0; round < 12; round++) {
      unsigned char* bytes = reinterpret_cast<unsigned char*>(table.get());
      if (round % 2 == 0) {
        for (size_t i = 0; i + 8 <= sizeof *table; i += 8) {
          uint64_t word = random();
          memcpy(bytes + i, &word, sizeof word);
        }
      } else {
        memset(bytes, round % 4 == 1 ? 0xff : 0x7f, sizeof *table);
      }
      stats::initialise_table(*table);
      constexpr uint32_t kCounts[] = {0, 1, 1023, 1024, 1025, 0xffffffff};
      table->header.n_places.store(kCounts[random() % 6], kRelaxed);
      table->header.n_tallies.store(static_cast<uint32_t>(random()), kRelaxed);
      table->header.published.store(true, kRelaxed);
      Planted planted(*table);
      ovs_lock_stats* stats;
      ASSERT_EQ(ovs_lock_stats_snapshot_of(getpid(), &stats), 0);
      EXPECT_LE(stats->n, stats::kMaxPlaces);
      for (ovs_lock_stats_syntax syntax :
           {OVS_LOCK_STATS_TEXT, OVS_LOCK_STATS_JSON,
            OVS_LOCK_STATS_PROMETHEUS}) {
        char* text = ovs_lock_stats_format(stats, syntax);
        ASSERT_NE(text, nullptr);
        free(text);
      }
      ovs_lock_stats_free(stats);
    }
  });
}

}  // namespace
}  // namespace ovsthread
