enum EnglishStemmer {
    static func stem(_ word: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int { count }
}
