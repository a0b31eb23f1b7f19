/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the least time in which an episode can be reset. It clones into a sandbox's namespaces
 * and makes the same kinds of mounts. Then it runs bash, and waits until bash has answered a
 * command.
 *
 * Compared to Fumehood, it leaves out the seccomp filter, the control group, limits, and the
 * loopback device. It also leaves out a PID 1 beside the shell, and all checks. As in Fumehood, the
 * root of listed paths is built once, in a small mount tree.
 */
#include "floor.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMESPACES                                                                                 \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |                \
			CLONE_NEWCGROUP | CLONE_NEWNET)
#define BASE "/tmp" /* the sandboxes' root is built on top of this folder */

static const char *const folders[] = { "root", "proc", "layer", "files", "next", "root/proc",
	"root/dev", "root/dev/shm", "root/dev/pts", "root/home", "root/tmp", "root/run",
	"root/etc" };
static const char *const listed[] = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
	"/libx32", "/opt", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
	"/dev/tty", "/etc/ssl", "/etc/alternatives", "/etc/fonts" };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void write_file(const char *path, const char *text)
{
	int fd = must(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644), path);

	must(write(fd, text, strlen(text)), path);
	close(fd);
}

static void bind(const char *from, const char *to)
{
	must(mount(from, to, NULL, MS_BIND | MS_REC, NULL), to);
}

/* --- done once, before all resets ------------------------------------------------------------- */

static void add_listed(const char *path)
{
	char link[256], to[256];
	struct stat st;
	ssize_t n;

	snprintf(to, sizeof(to), "root%s", path);
	if (lstat(path, &st) < 0)
		return;
	if (S_ISLNK(st.st_mode)) {
		n = must(readlink(path, link, sizeof(link) - 1), path);
		link[n] = '\0';
		must(symlink(link, to), to);
		return;
	}
	if (S_ISDIR(st.st_mode))
		must(mkdir(to, 0755), to);
	else
		write_file(to, "");
	bind(path, to);
}

static void pivot(const char *root)
{
	must(chdir(root), root);
	must(syscall(SYS_pivot_root, ".", "."), "pivot_root");
	must(umount2(".", MNT_DETACH), "umount");
	must(chdir("/"), "/");
}

static void prepare(void)
{
	char uid_map[64], gid_map[64];

	snprintf(uid_map, sizeof(uid_map), "0 %u 1", (unsigned)geteuid());
	snprintf(gid_map, sizeof(gid_map), "0 %u 1", (unsigned)getegid());
	must(unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare");
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", uid_map);
	write_file("/proc/self/gid_map", gid_map);
	must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "/");
	must(mount("base", BASE, "tmpfs", 0, NULL), BASE);
	must(chdir(BASE), BASE);
	for (size_t i = 0; i < COUNT(folders); i++)
		must(mkdir(folders[i], 0755), folders[i]);
	for (size_t i = 0; i < COUNT(listed); i++)
		add_listed(listed[i]);
	write_file("layer/file", "hello\n");
	bind("root", "root");
	bind("/proc", "proc");
	pivot(BASE);
}

/* --- done in each reset ----------------------------------------------------------------------- */

static void make_mounts(void)
{
	bind("/root", "/next");
	must(mount("files", "/files", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755"), "tmpfs");
	must(mkdir("/files/home", 0755), "home");
	must(mkdir("/files/work", 0755), "work");
	must(mkdir("/files/tmp", 01777), "tmp");
	must(mkdir("/files/shm", 01777), "shm");
	must(mkdir("/files/run", 0755), "run");
	must(mount("overlay", "/next/home", "overlay", MS_NOSUID | MS_NODEV,
			     "lowerdir=/layer,upperdir=/files/home,workdir=/files/work,userxattr"),
			"overlay");
	bind("/files/tmp", "/next/tmp");
	bind("/files/shm", "/next/dev/shm");
	bind("/files/run", "/next/run");
	must(mount("proc", "/next/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL), "proc");
	must(mount("devpts", "/next/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
			     "newinstance,ptmxmode=0666,mode=620"),
			"devpts");
	pivot("/next");
}

_Noreturn static void become_bash(int mapped, int in, int out)
{
	char name[] = "bash", norc[] = "--norc", noprofile[] = "--noprofile";
	char *const argv[] = { name, norc, noprofile, NULL };
	char path[] = "PATH=/usr/bin:/bin";
	char *const env[] = { path, NULL };
	char go;

	must(read(mapped, &go, 1), "read");
	must(setresgid(0, 0, 0), "setresgid");
	must(setresuid(0, 0, 0), "setresuid");
	must(setsid(), "setsid");
	must(sethostname("floor", 5), "sethostname");
	make_mounts();
	dup2(in, 0);
	dup2(out, 1);
	must(syscall(SYS_close_range, 3, ~0U, 0), "close_range");
	execve("/bin/bash", argv, env);
	die("/bin/bash");
}

static void map_ids(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	write_file(path, "0 0 1");
	snprintf(path, sizeof(path), "/proc/%d/gid_map", pid);
	write_file(path, "0 0 1");
}

/*
 * Pause in microseconds before each reset, so that the kernel can remove the last namespaces.
 * src/bench/episode.c pauses as long.
 */
#define REST_US 5000

static double one_reset(void)
{
	struct clone_args args = { .flags = NAMESPACES, .exit_signal = SIGCHLD };
	int mapped[2], to[2], from[2];
	double began = now_us(), took;
	char answer[16];
	pid_t pid;

	must(pipe2(mapped, O_CLOEXEC), "pipe");
	must(pipe2(to, O_CLOEXEC), "pipe");
	must(pipe2(from, O_CLOEXEC), "pipe");
	pid = must(syscall(SYS_clone3, &args, sizeof(args)), "clone3");
	if (pid == 0)
		become_bash(mapped[0], to[0], from[1]);
	close(from[1]);
	map_ids(pid);
	must(write(mapped[1], "", 1), "write");
	must(write(to[1], "echo\n", 5), "write");
	if (must(read(from[0], answer, sizeof(answer)), "read") != 1)
		die("bash gave no answer");
	took = now_us() - began;
	kill(pid, SIGKILL);
	must(waitpid(pid, NULL, 0), "waitpid");
	close(mapped[0]);
	close(mapped[1]);
	close(to[0]);
	close(to[1]);
	close(from[0]);
	return took;
}

int main(int argc, char **argv)
{
	int n = floor_begin(argc, argv);

	prepare();
	one_reset();
	for (int i = 0; i < n; i++) {
		usleep(REST_US);
		samples[i] = one_reset();
	}
	floor_end(n);
	return 0;
}
