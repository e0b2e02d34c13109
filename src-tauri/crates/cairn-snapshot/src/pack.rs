//! Builds Git pack files in memory: whole objects, no deltas, with their version 2 index.
//!
//! It writes no file, see `objects.rs`. Formats: `gitformat-pack` of Git 2.47, read 2026-11-30.

use std::collections::HashMap;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use git2::{ObjectType, Oid};
use sha1::{Digest, Sha1};

/// A compressed object, ready to be put into a pack.
pub(crate) struct Packed {
    oid: Oid,
    bytes: Vec<u8>,
    header: usize,
}

/// Files larger than this are rarely text and gain little from compression; they are stored as they are.
const STORE_ABOVE: usize = 1024 * 1024;

impl Packed {
    /// Compresses an object whose id is known.
    pub(crate) fn new(oid: Oid, kind: ObjectType, content: &[u8]) -> Self {
        let code: u8 = match kind {
            ObjectType::Commit => 1,
            ObjectType::Tree => 2,
            _ => 3,
        };
        let mut bytes = Vec::with_capacity(content.len() / 2 + 32);
        let mut rest = content.len() as u64 >> 4;
        let mut byte = (code << 4) | (content.len() as u64 & 0x0f) as u8;
        while rest > 0 {
            bytes.push(byte | 0x80);
            byte = (rest & 0x7f) as u8;
            rest >>= 7;
        }
        bytes.push(byte);
        let header = bytes.len();
        let level =
            if content.len() > STORE_ABOVE { Compression::none() } else { Compression::fast() };
        let mut encoder = ZlibEncoder::new(bytes, level);
        encoder.write_all(content).expect("a vector takes every write");
        let bytes = encoder.finish().expect("a vector takes every write");
        Self { oid, bytes, header }
    }
}

struct Place {
    offset: usize,
    end: usize,
    header: usize,
    crc: u32,
}

/// A pack that grows in memory.
pub(crate) struct Pack {
    buffer: Vec<u8>,
    places: HashMap<Oid, Place>,
}

/// A finished pack: its name without ending, and both files.
pub(crate) struct Finished {
    pub(crate) name: String,
    pub(crate) pack: Vec<u8>,
    pub(crate) index: Vec<u8>,
}

impl Pack {
    pub(crate) fn new() -> Self {
        Self { buffer: b"PACK\0\0\0\x02\0\0\0\0".to_vec(), places: HashMap::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Bytes so far.
    pub(crate) fn len(&self) -> usize {
        self.buffer.len()
    }

    pub(crate) fn contains(&self, oid: Oid) -> bool {
        self.places.contains_key(&oid)
    }

    pub(crate) fn add(&mut self, object: &Packed) {
        if self.contains(object.oid) {
            return;
        }
        let mut crc = flate2::Crc::new();
        crc.update(&object.bytes);
        let offset = self.buffer.len();
        self.buffer.extend_from_slice(&object.bytes);
        let place = Place { offset, end: self.buffer.len(), header: object.header, crc: crc.sum() };
        self.places.insert(object.oid, place);
    }

    /// Returns the content of an object that was added.
    pub(crate) fn read(&self, oid: Oid) -> Option<Vec<u8>> {
        let place = self.places.get(&oid)?;
        let mut content = Vec::new();
        let compressed = &self.buffer[place.offset + place.header..place.end];
        ZlibDecoder::new(compressed).read_to_end(&mut content).ok()?;
        Some(content)
    }

    /// Returns both files; the pack itself can go on being read.
    pub(crate) fn finish(&self) -> Finished {
        let count = u32::try_from(self.places.len())
            .expect("a pack is far below four thousand million objects");
        let mut pack = Vec::with_capacity(self.buffer.len() + 20);
        pack.extend_from_slice(&self.buffer);
        pack[8..12].copy_from_slice(&count.to_be_bytes());
        let checksum = Sha1::digest(&pack);
        pack.extend_from_slice(&checksum);

        let mut sorted: Vec<(&Oid, &Place)> = self.places.iter().collect();
        sorted.sort_unstable_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
        let mut index = b"\xfftOc\0\0\0\x02".to_vec();
        let mut below = 0u32;
        let mut at = 0;
        for first in 0..=255u8 {
            while at < sorted.len() && sorted[at].0.as_bytes()[0] == first {
                at += 1;
                below += 1;
            }
            index.extend_from_slice(&below.to_be_bytes());
        }
        for (oid, _) in &sorted {
            index.extend_from_slice(oid.as_bytes());
        }
        for (_, place) in &sorted {
            index.extend_from_slice(&place.crc.to_be_bytes());
        }
        for (_, place) in &sorted {
            let offset = u32::try_from(place.offset).expect("packs are cut far below 2 GiB");
            index.extend_from_slice(&offset.to_be_bytes());
        }
        index.extend_from_slice(&checksum);
        let own = Sha1::digest(&index);
        index.extend_from_slice(&own);
        let name = checksum.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        Finished { name: format!("pack-{name}"), pack, index }
    }
}
