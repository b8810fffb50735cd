//! Reading a directory with the system call itself.
//!
//! The C library's stream would cost an allocation of 32 KiB and a lock for each directory, and could not be shared with
//! the threads that look at the names.

use nix::errno::Errno;
use std::cell::RefCell;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// Where a record's length, kind and name stand, behind its inode and offset.
const LEN_AT: usize = 16;
const KIND_AT: usize = 18;
const NAME_AT: usize = 19;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; 64 << 10]);
}

/// Calls `each` with the kind (`DT_…`) of each name, and the name with its NUL. `.` and `..` are left out.
pub(super) fn names(dir: BorrowedFd<'_>, mut each: impl FnMut(u8, &[u8])) -> Result<(), Errno> {
    BUFFER.with_borrow_mut(|buffer| {
        loop {
            // SAFETY: the kernel writes at most `buffer.len()` bytes into a buffer of that length, and the descriptor is
            // open for the whole call.
            let filled = unsafe {
                nix::libc::syscall(nix::libc::SYS_getdents64, dir.as_raw_fd(), buffer.as_mut_ptr(), buffer.len())
            };
            let filled = usize::try_from(filled).map_err(|_| Errno::last())?;
            if filled == 0 {
                return Ok(());
            }
            records(&buffer[..filled], &mut each)?;
        }
    })
}

fn records(mut rest: &[u8], each: &mut impl FnMut(u8, &[u8])) -> Result<(), Errno> {
    while rest.len() > NAME_AT {
        let len = usize::from(u16::from_ne_bytes([rest[LEN_AT], rest[LEN_AT + 1]]));
        let name = rest.get(NAME_AT..len).ok_or(Errno::EIO)?;
        let end = name.iter().position(|byte| *byte == 0).ok_or(Errno::EIO)?;
        if !matches!(&name[..end], b"." | b"..") {
            each(rest[KIND_AT], &name[..=end]);
        }
        rest = &rest[len..];
    }
    Ok(())
}
