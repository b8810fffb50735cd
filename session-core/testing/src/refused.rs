//! System calls that the kernel refuses, as an odd file system, a limit or a policy makes it.

use nix::errno::Errno;
use nix::libc;
use std::thread;

/// A system call that can be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// `flock`: there are file systems without locks.
    Flock,
    /// `poll`, under each of its names.
    Poll,
    /// `epoll_create1`: nobody can wait for many things at once any more.
    Epoll,
    /// `clone`, under each of its names: there are no more threads or processes.
    Clone,
    /// `open`, under each of its names: there are no more descriptors.
    Open,
    /// `renameat2`, which renames without replacing, and swaps: there are file systems that do neither.
    RenameWithFlags,
    /// `linkat`: there are file systems without second names.
    Link,
}

impl Call {
    fn numbers(self) -> &'static [libc::c_long] {
        match self {
            Call::Flock => &[libc::SYS_flock],
            #[cfg(target_arch = "x86_64")]
            Call::Poll => &[libc::SYS_poll, libc::SYS_ppoll],
            #[cfg(not(target_arch = "x86_64"))]
            Call::Poll => &[libc::SYS_ppoll],
            Call::Epoll => &[libc::SYS_epoll_create1],
            Call::Clone => &[libc::SYS_clone, libc::SYS_clone3],
            #[cfg(target_arch = "x86_64")]
            Call::Open => &[libc::SYS_open, libc::SYS_openat, libc::SYS_openat2],
            #[cfg(not(target_arch = "x86_64"))]
            Call::Open => &[libc::SYS_openat, libc::SYS_openat2],
            Call::RenameWithFlags => &[libc::SYS_renameat2],
            #[cfg(target_arch = "x86_64")]
            Call::Link => &[libc::SYS_linkat, libc::SYS_link],
            #[cfg(not(target_arch = "x86_64"))]
            Call::Link => &[libc::SYS_linkat],
        }
    }
}

/// Runs `act` on a thread of its own, to which the kernel refuses a system call, and gives what it gives. The processes and
/// threads that `act` starts are refused it, too, and no others.
///
/// # Panics
/// If the kernel has no such filters, or `act` panics.
pub fn refusing<T: Send>(call: Call, errno: Errno, act: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let running = scope.spawn(|| {
            refuse_from_now_on(call, errno);
            act()
        });
        running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn refuse_from_now_on(call: Call, errno: Errno) {
    let mut program = filter(call.numbers(), errno);
    let len = u16::try_from(program.len()).expect("it has a few instructions");
    let program = libc::sock_fprog { len, filter: program.as_mut_ptr() };
    // SAFETY: both change what this thread may do, and nothing else; the program lives until the kernel has copied it.
    let answers = unsafe {
        [
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program, 0, 0),
        ]
    };
    assert_eq!(answers, [0, 0], "the kernel filters system calls: {}", Errno::last());
}

/// The number of the call stands at the beginning of what a filter looks at. These are refused, the others let through.
fn filter(numbers: &[libc::c_long], errno: Errno) -> Vec<libc::sock_filter> {
    let code = |parts: u32| u16::try_from(parts).expect("a code has 16 bits");
    let step = |parts: u32, k: u32, jf: u8| libc::sock_filter { code: code(parts), jt: 0, jf, k };
    let give = |answer: u32| step(libc::BPF_RET | libc::BPF_K, answer, 0);
    let refusal = u32::try_from(errno as i32).expect("the kernel's errors are positive");
    let mut program = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    for number in numbers {
        let number = u32::try_from(*number).expect("the numbers of calls are small");
        // Where it is another one, the next step is passed over.
        program.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, number, 1));
        program.push(give(libc::SECCOMP_RET_ERRNO | refusal));
    }
    program.push(give(libc::SECCOMP_RET_ALLOW));
    program
}

#[cfg(test)]
mod tests {
    use super::{Call, refusing};
    use nix::errno::Errno;
    use std::fs::File;

    #[test]
    fn a_refused_call_fails_in_its_thread_and_nowhere_else() {
        let try_lock = || File::open("/dev/null").expect("it is always there").lock();
        let error = refusing(Call::Flock, Errno::EOPNOTSUPP, try_lock).expect_err("it is refused");
        assert_eq!(error.raw_os_error(), Some(Errno::EOPNOTSUPP as i32));
        try_lock().expect("here it is not");
    }
}
