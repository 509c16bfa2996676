use std::fs;
use std::os::unix::fs::PermissionsExt;

fn open_up(path: &str) -> std::io::Result<()> {
    // ruleid: swarmgate.rust.world-writable
    fs::set_permissions(path, fs::Permissions::from_mode(0o777))?;
    // ok: swarmgate.rust.world-writable
    fs::set_permissions(path, fs::Permissions::from_mode(0o640))
}
