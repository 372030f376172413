//! What an instruction of x86-64 does with memory, as far as its first bytes say it.

/// How an instruction may touch memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Not at all, or only its own frame on the stack, or what is local to the thread.
    Own,
    /// It may be memory that other threads use, too. If the address is in a register, plus a
    /// constant, this is the number of the register.
    Shared(Option<u8>),
    /// It is, by a read-modify-write that the processor makes atomic: a `lock` prefix, or an
    /// exchange with memory, which needs none.
    Locked,
}

/// What an instruction does with memory. When in doubt it's [`Memory::Shared`].
///
/// # Safety
///
/// The caller must pass the address of an instruction.
pub(crate) unsafe fn memory_of(instruction: *const u8) -> Memory {
    let mut at = instruction;
    let next = &mut move || {
        // SAFETY: an instruction has all the bytes that the ones before it announce.
        let byte = unsafe { *at };
        // SAFETY: as above; behind the last one there's another instruction, or the section's end.
        at = unsafe { at.add(1) };
        byte
    };
    let (mut rex, mut is_local) = (0, false);
    loop {
        let opcode = next();
        match opcode {
            0xf0 => return Memory::Locked,
            // Relative to what is local to the thread.
            0x64 => is_local = true,
            // Sizes, other segments, repetitions.
            0x66 | 0x67 | 0x26 | 0x2e | 0x36 | 0x3e | 0x65 | 0xf2 | 0xf3 => {}
            0x40..=0x4f => rex = opcode,
            // An exchange.
            0x86 | 0x87 => {
                return match next() < REGISTERS {
                    true => Memory::Locked,
                    false => Memory::Own,
                };
            }
            _ if is_local => return Memory::Own,
            0x0f => return of_second_map(rex, next),
            // The vector extensions: what is left of the prefix, then an opcode.
            0xc4 | 0xc5 | 0x62 => {
                let rest = match opcode {
                    0xc5 => 1,
                    0xc4 => 2,
                    _ => 3,
                };
                (0..rest).for_each(|_| _ = next());
                return match next() {
                    // `vzeroupper`
                    0x77 => Memory::Own,
                    // The prefix also says which base it is, in another way than `REX`.
                    _ if next() >= REGISTERS => Memory::Own,
                    _ => Memory::Shared(None),
                };
            }
            _ => return of_first_map(opcode, rex, next),
        }
    }
}

fn of_first_map(opcode: u8, rex: u8, next: &mut impl FnMut() -> u8) -> Memory {
    match opcode {
        // An operand and the accumulator; pushes and pops; a jump, a call, a return; constants.
        0x04
        | 0x05
        | 0x0c
        | 0x0d
        | 0x14
        | 0x15
        | 0x1c
        | 0x1d
        | 0x24
        | 0x25
        | 0x2c
        | 0x2d
        | 0x34
        | 0x35
        | 0x3c
        | 0x3d
        | 0x50..=0x5f
        | 0x68
        | 0x6a
        | 0x70..=0x7f
        | 0x90..=0x99
        | 0x9b..=0x9f
        | 0xa8
        | 0xa9
        | 0xb0..=0xbf
        | 0xc2
        | 0xc3
        | 0xc8
        | 0xc9
        | 0xe0..=0xe3
        | 0xe8
        | 0xe9
        | 0xeb
        | 0xf5
        | 0xf8..=0xfd => Memory::Own,
        // `lea` only computes an address.
        0x8d => Memory::Own,
        0x00..=0x3b
        | 0x63
        | 0x69
        | 0x6b
        | 0x80..=0x8c
        | 0x8e
        | 0x8f
        | 0xc0
        | 0xc1
        | 0xc6
        | 0xc7
        | 0xd0..=0xd3
        | 0xd8..=0xdf
        | 0xf6
        | 0xf7
        | 0xfe => of_operands(rex, next),
        0xff => of_operands(rex, next),
        _ => Memory::Shared(None),
    }
}

/// The opcodes behind `0f`.
fn of_second_map(rex: u8, next: &mut impl FnMut() -> u8) -> Memory {
    match next() {
        // Does nothing, or marks where a jump may go; jumps; swaps bytes.
        0x0b | 0x1e | 0x1f | 0x77 | 0x80..=0x8f | 0xa2 | 0xc8..=0xcf => Memory::Own,
        0x38 | 0x3a => {
            next();
            of_operands(rex, next)
        }
        // A system call, and what else has no operands.
        0x00..=0x0f | 0x30..=0x37 | 0xa0 | 0xa1 | 0xa8..=0xaa => Memory::Shared(None),
        _ => of_operands(rex, next),
    }
}

/// Of the byte that says what the operands are: from here on both are registers.
const REGISTERS: u8 = 0b1100_0000;
/// The bit of `REX` with which the base is another register, of the same number less 8.
const BASE_IS_ANOTHER: u8 = 1;

/// By the bytes that say what the operands are.
fn of_operands(rex: u8, next: &mut impl FnMut() -> u8) -> Memory {
    /// Stands for a base and an index, in one more byte.
    const BASE_AND_INDEX: u8 = 0b100;
    const STACK_POINTER: u8 = 0b100;
    let operands = next();
    if operands >= REGISTERS {
        return Memory::Own;
    }
    let another = (rex & BASE_IS_ANOTHER) << 3;
    match operands & 0b111 {
        BASE_AND_INDEX if next() & 0b111 == STACK_POINTER && another == 0 => Memory::Own,
        BASE_AND_INDEX => Memory::Shared(None),
        // A constant, relative to the instruction.
        0b101 if operands < 0b0100_0000 => Memory::Shared(None),
        base => Memory::Shared(Some(another | base)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_shared_is_distinguished_from_what_is_not() {
        const SHARED: Memory = Memory::Shared(None);
        let in_register = |number| Memory::Shared(Some(number));
        let cases: [(&[u8], Memory); 28] = [
            (&[0xf0, 0x48, 0xff, 0x00], Memory::Locked), // lock inc qword ptr [rax]
            (&[0x66, 0xf0, 0xff, 0x00], Memory::Locked), // lock inc word ptr [rax]
            (&[0xf0, 0x0f, 0xb1, 0x0a], Memory::Locked), // lock cmpxchg [rdx], ecx
            (&[0x87, 0x07], Memory::Locked),             // xchg [rdi], eax
            (&[0x48, 0x87, 0xc8], Memory::Own),          // xchg rax, rcx
            (&[0x48, 0xff, 0x00], in_register(0)),       // inc qword ptr [rax]
            (&[0x90], Memory::Own),                      // nop
            (&[0x48, 0x8b, 0x07], in_register(7)),       // mov rax, [rdi]
            (&[0x48, 0x89, 0x45, 0xf8], in_register(5)), // mov [rbp - 8], rax
            (&[0x48, 0x8b, 0x44, 0x24, 8], Memory::Own), // mov rax, [rsp + 8]
            (&[0x48, 0x89, 0x04, 0x24], Memory::Own),    // mov [rsp], rax
            (&[0x49, 0x8b, 0x04, 0x24], SHARED),         // mov rax, [r12]
            (&[0x8b, 0x04, 0x88], SHARED),               // mov eax, [rax + 4 rcx]
            (&[0x48, 0x8d, 0x05, 1, 2, 3, 0], Memory::Own), // lea rax, [rip + 0x30201]
            (&[0x8a, 0x05, 1, 2, 3, 0], SHARED),         // mov al, [rip + 0x30201]
            (&[0x0f, 0x05], SHARED),                     // syscall
            (&[0x0f, 0xb6, 0x07], in_register(7)),       // movzx eax, byte ptr [rdi]
            (&[0x0f, 0xb6, 0xc0], Memory::Own),          // movzx eax, al
            (&[0x0f, 0x84, 1, 0, 0, 0], Memory::Own),    // je
            (&[0x0f, 0x10, 0x06], in_register(6)),       // movups xmm0, [rsi]
            (&[0x0f, 0x11, 0x04, 0x24], Memory::Own),    // movups [rsp], xmm0
            (&[0xc5, 0xfc, 0x11, 0x07], SHARED),         // vmovups [rdi], ymm0
            (&[0xc5, 0xf8, 0x77], Memory::Own),          // vzeroupper
            (&[0xf3, 0xa4], SHARED),                     // rep movsb
            (&[0xff, 0x10], in_register(0)),             // call [rax]
            (&[0x41, 0x8b, 0x45, 8], in_register(13)),   // mov eax, [r13 + 8]
            (&[0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0], Memory::Own), // mov rax, fs:[0]
            (&[0x83, 0x38, 0], in_register(0)),          // cmp dword ptr [rax], 0
        ];
        for (instruction, expected) in cases {
            // SAFETY: each is a whole instruction.
            let found = unsafe { memory_of(instruction.as_ptr()) };
            assert_eq!(found, expected, "{instruction:x?}");
        }
    }
}
