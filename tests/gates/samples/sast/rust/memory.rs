use std::io::Read;
use std::mem::MaybeUninit;

fn header() -> u32 {
    // ruleid: swarmgate.rust.uninitialised-memory
    let first: u32 = unsafe { std::mem::uninitialized() };
    let mut slot = MaybeUninit::<u32>::uninit();
    slot.write(7);
    // ok: swarmgate.rust.uninitialised-memory
    first + unsafe { slot.assume_init() }
}

fn load(mut source: impl Read, size: usize) -> Vec<u8> {
    // ruleid: swarmgate.rust.set-len-before-write
    let mut buffer = Vec::with_capacity(size);
    unsafe {
        buffer.set_len(size);
    }
    let _ = source.read_exact(&mut buffer);
    buffer
}

fn load_well(mut source: impl Read, size: usize) -> Vec<u8> {
    // ok: swarmgate.rust.set-len-before-write
    let mut buffer = Vec::with_capacity(size);
    buffer.resize(size, 0);
    let _ = source.read_exact(&mut buffer);
    buffer
}

fn bits(number: f32) -> (u32, u32) {
    // ruleid: swarmgate.rust.transmute
    let raw = unsafe { std::mem::transmute::<f32, u32>(number) };
    // ok: swarmgate.rust.transmute
    (raw, number.to_bits())
}
