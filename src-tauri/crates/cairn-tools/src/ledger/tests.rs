use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{Identity, ReadLedger, Standing};

fn identity(sha256: Option<&str>, seconds: u64) -> Identity {
    let modified = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    Identity { bytes: 3, modified, sha256: sha256.map(str::to_owned) }
}

#[test]
fn z_31_the_hash_decides_where_there_is_one() {
    let ledger = ReadLedger::new();
    let path = Path::new("/w/a");
    assert_eq!(ledger.standing(path, &identity(Some("a"), 1)), Standing::NeverRead);
    ledger.record(path, identity(Some("a"), 1));
    assert_eq!(ledger.standing(path, &identity(Some("a"), 2)), Standing::Known);
    assert_eq!(ledger.standing(path, &identity(Some("b"), 1)), Standing::ChangedSince);
    ledger.record(path, identity(None, 1));
    assert_eq!(ledger.standing(path, &identity(Some("a"), 1)), Standing::Known);
    assert_eq!(ledger.standing(path, &identity(Some("a"), 2)), Standing::ChangedSince);
    ledger.clear();
    assert_eq!(ledger.standing(path, &identity(Some("a"), 1)), Standing::NeverRead);
}
