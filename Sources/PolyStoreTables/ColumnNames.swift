import PolyStoreBackend

/// Returns a name as SQLite compares it: byte by byte, with the capitals of ASCII as small letters.
func foldedName(_ name: String) -> [UInt8] { name.utf8.map { $0 >= 65 && $0 <= 90 ? $0 + 32 : $0 } }

/// Returns whether two names are one for SQLite.
func isSameName(_ left: String, _ right: String) -> Bool { foldedName(left) == foldedName(right) }

/// Returns a name as an identifier of SQL.
func quotedName(_ name: String) -> String { name.enclosed(in: "\"") }
