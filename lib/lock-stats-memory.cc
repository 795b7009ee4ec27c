// SPDX-License-Identifier: Apache-2.0
#include "lock-stats-memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "elision.h"
#include "log.h"

namespace ovsthread::stats {
namespace {

constexpr char kFolder[] = "/dev/shm";
constexpr char kPrefix[] = "ovsthread-stats.";

// Of this process; -1: the memory is anonymous, because of file_error, or, if
// that is 0, because nobody has asked for a file yet.
int file = -1;
int file_error;
// Who gave the file its name, 0: nobody.
pid_t publisher;

struct Path {
  explicit Path(pid_t pid) {
    snprintf(text, sizeof text, "%s/%s%d", kFolder, kPrefix, pid);
  }
  char text[sizeof kFolder + sizeof kPrefix + 16];
};

bool exists(pid_t pid) { return kill(pid, 0) == 0 || errno == EPERM; }

class File {
 public:
  explicit File(pid_t pid)
      // Anybody can make something of that name that open() would wait for.
      : fd_(open(Path(pid).text,
                 O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Whether it is open; errno says why not.
  bool ok() const { return fd_ >= 0; }

  // 0, or why it is nothing that this user has published.
  int why_not() const {
    struct stat status;
    if (fstat(fd_, &status) != 0) return errno;
    if (status.st_uid != geteuid()) return EACCES;
    return S_ISREG(status.st_mode) ? 0 : EPROTO;
  }

  // Whether a process publishes it still: see open_file().
  bool is_held() const {
    return flock(fd_, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  }

  bool read_at(size_t offset, void* to, size_t size) const {
    while (size > 0) {
      ssize_t n = pread(fd_, to, size, static_cast<off_t>(offset));
      if (n <= 0) return false;
      to = static_cast<char*>(to) + n;
      offset += static_cast<size_t>(n);
      size -= static_cast<size_t>(n);
    }
    return true;
  }

 private:
  int fd_;
};

void close_file(int error) {
  if (file >= 0) close(file);
  file = -1;
  file_error = error;
}

void open_file() {
  file = open(kFolder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return close_file(errno);
  // Beyond it, a signal would kill the process.
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < sizeof(Table)) {
    return close_file(EFBIG);
  }
  // All of it now: where the file system is full, a later write to the memory
  // would kill the process, too.
  int error;
  do {
    error = posix_fallocate(file, 0, sizeof(Table));
  } while (error == EINTR);
  if (error != 0) return close_file(error);
  // Lasts as long as the process, whose children let go of the file, and no
  // longer than the program.
  if (flock(file, LOCK_EX | LOCK_NB) != 0) close_file(errno);
}

// Maps the file, or anonymous memory, in the place of OLD if that is not null.
Table* map(Table* old) {
  int flags = file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  if (old != nullptr) flags |= MAP_FIXED;
  void* memory =
      mmap(old, sizeof(Table), PROT_READ | PROT_WRITE, flags, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Table*>(memory);
}

bool write_all(const Table& table) {
  const char* from = reinterpret_cast<const char*>(&table);
  for (size_t done = 0; done < sizeof table;) {
    ssize_t n = pwrite(file, from + done, sizeof table - done,
                       static_cast<off_t>(done));
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

// From anonymous memory.
void move_to_file(Table& table) {
  open_file();
  if (file < 0) return;
  if (!write_all(table)) return close_file(EIO);
  if (map(&table) != &table) fatal("out of memory for lock statistics");
}

// At a normal end; not in a child that shares the memory by vfork().
__attribute__((destructor)) void remove_name() {
  if (publisher != 0 && publisher == getpid()) unlink(Path(publisher).text);
}

}  // namespace

Table* allocate_memory() {
  open_file();
  return map(nullptr);
}

void initialise_table(Table& table) {
  table.header.magic = Table::kMagic;
  table.header.version = Table::kVersion;
  table.header.size = sizeof table;
  table.header.pid = getpid();
  table.header.n_places.store(kOthers + 1, kRelaxed);
}

int publish_memory(Table& table) {
  // Relaxed, here and below: a reader may come a moment too early or too late.
  table.header.published.store(true, kRelaxed);
  if (publisher == getpid()) return 0;
  if (file < 0 && file_error == 0) move_to_file(table);
  if (file < 0) return file_error;
  char self[32];
  snprintf(self, sizeof self, "/proc/self/fd/%d", file);
  Path path(table.header.pid);
  for (int tries = 0;; tries++) {
    // Fails if there is a file of that name, whoever made it.
    if (linkat(AT_FDCWD, self, AT_FDCWD, path.text, AT_SYMLINK_FOLLOW) == 0) {
      publisher = getpid();
      return 0;
    }
    int error = errno;
    if (error != EEXIST || tries > 0) return error;
    // Of an ended process that had the same number, or of one that has it in
    // another namespace of process numbers.
    File other(table.header.pid);
    if (other.ok() && other.is_held()) return error;
    if (unlink(path.text) != 0) return error;
  }
}

void hide_memory(Table& table) {
  table.header.published.store(false, kRelaxed);
}

bool replace_memory_in_child(Table* table) {
  close_file(0);
  publisher = 0;
  return map(table) == table;
}

int read_published(pid_t pid, Table& copy) {
  if (pid <= 0) return ESRCH;
  File published(pid);
  if (!published.ok()) {
    if (errno != ENOENT) return errno == EACCES ? EACCES : EPROTO;
    return exists(pid) ? ENOENT : ESRCH;
  }
  if (int error = published.why_not()) return error;
  if (!published.is_held()) {
    unlink(Path(pid).text);
    return exists(pid) ? ENOENT : ESRCH;
  }
  Header& header = copy.header;
  if (!published.read_at(0, &header, sizeof header) ||
      header.magic != Table::kMagic || header.version != Table::kVersion ||
      header.size != sizeof copy || header.pid != pid ||
      !published.read_at(0, &copy, sizeof copy)) {
    return EPROTO;
  }
  return header.published.load(kRelaxed) ? 0 : ENOENT;
}

}  // namespace ovsthread::stats

using namespace ovsthread::stats;

int ovs_lock_stats_snapshot_of(pid_t pid, ovs_lock_stats** stats) {
  ovsthread::elision::safe_point(OVS_SAFE_POINT_STATISTICS);
  std::unique_ptr<Table> copy(new (std::nothrow) Table());
  if (copy == nullptr) return ENOMEM;
  if (int error = read_published(pid, *copy)) return error;
  *stats = sum_table(*copy, pid);
  return *stats == nullptr ? ENOMEM : 0;
}

size_t ovs_lock_stats_processes(pid_t pids[], size_t max) {
  ovsthread::elision::safe_point(OVS_SAFE_POINT_STATISTICS);
  std::unique_ptr<Table> copy(new (std::nothrow) Table());
  DIR* folder = opendir(kFolder);
  size_t n = 0;
  while (copy != nullptr && folder != nullptr) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of this thread's own.
    const dirent* entry = readdir(folder);
    if (entry == nullptr) break;
    if (strncmp(entry->d_name, kPrefix, sizeof kPrefix - 1) != 0) continue;
    char* end;
    long pid = strtol(entry->d_name + sizeof kPrefix - 1, &end, 10);
    if (*end != '\0' || pid <= 0 || pid > INT_MAX) continue;
    if (read_published(static_cast<pid_t>(pid), *copy) != 0) continue;
    if (n < max) pids[n] = static_cast<pid_t>(pid);
    n++;
  }
  if (folder != nullptr) closedir(folder);
  return n;
}
