import PolyStoreBackend

/// The stored form of a change log entry: split into pieces, because an engine may limit the length of a value.
///
/// The key of a piece consists of the space, the entry's position and the piece's number from 0. Its value contains the version of the commit, the number of
/// pieces and the bytes, sealed (``SealedValue``).
enum ChangeLog {
    static let keySize = 13
    static let headSize = 12

    static func key(_ position: Int64, _ piece: UInt32 = 0) -> [UInt8] {
        [Keyspace.changeLog.rawValue] + BigEndianInteger.bytes(UInt64(bitPattern: position)) + BigEndianInteger.bytes(piece)
    }

    /// The parts of the key of a piece.
    struct PieceKey: Equatable {
        /// The position of the entry in the log.
        let position: Int64
        /// The number of the piece within the entry, from 0.
        let piece: UInt32

        init(position: Int64, piece: UInt32) {
            self.position = position
            self.piece = piece
        }

        /// - Returns: `nil` if the key is not that of a piece.
        init?(_ key: UnsafeRawBufferPointer) {
            guard key.count == keySize, key[0] == Keyspace.changeLog.rawValue else { return nil }
            let position = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
            guard let position = Int64(exactly: position), position > 0 else { return nil }
            self.init(position: position, piece: UInt32(bigEndian: key.loadUnaligned(fromByteOffset: 9, as: UInt32.self)))
        }
    }

    /// One piece of an entry.
    struct Piece {
        let version: UInt64
        /// The number of pieces of the entry.
        let count: UInt32
        let bytes: ArraySlice<UInt8>

        /// - Returns: `nil` for damaged bytes.
        init?(_ key: [UInt8], _ value: UnsafeRawBufferPointer) {
            guard let opened = SealedValue.opened(key, value), opened.count >= ChangeLog.headSize else { return nil }
            (version, count) = opened.withUnsafeBytes {
                (
                    UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                    UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
                )
            }
            guard count > 0 else { return nil }
            bytes = opened.dropFirst(ChangeLog.headSize)
        }
    }
}
