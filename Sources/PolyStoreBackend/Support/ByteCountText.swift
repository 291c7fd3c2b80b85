extension Int {
    /// A number of bytes for messages: `512 bytes`, `98 KiB`, `64 MiB`, rounded down.
    package var byteCountText: String {
        switch self {
        case ..<1024: "\(self) bytes"
        case ..<(1 << 20): "\(self >> 10) KiB"
        default: "\(self >> 20) MiB"
        }
    }
}
