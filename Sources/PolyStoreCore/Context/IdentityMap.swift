/// The objects of one entity in one context, by key; holds none of them alive.
///
/// Keys come from a sequence and are dense, so pages of 512 pointers with the last page remembered beat a dictionary by far. Pages that
/// have become empty are kept for a while: objects that come and go would otherwise make and drop one each time.
///
/// A map belongs to a context, and a context to one thread at a time; no access to a property lasts longer than a line. Hence the unchecked
/// exclusivity.
@usableFromInline
final class IdentityMap {
    /// 512 pointers to objects, then the number of those that are set.
    @usableFromInline typealias Page = UnsafeMutablePointer<UInt>

    @usableFromInline static let width = 512
    /// So many empty pages (of 4 KiB) are kept before all are dropped.
    private static let keptPages = 1024

    /// The owner. It owns this map, so it is there whenever the map is used.
    @usableFromInline unowned(unsafe) let context: Context
    /// The entity's place in the context's table.
    @usableFromInline let slot: Int32
    /// Objects that refer to this map. While there are any, the map keeps its context alive: one reference for all of them.
    @exclusivity(unchecked) @usableFromInline var holders = 0

    @exclusivity(unchecked) private var pages: [Int64: Page] = [:]
    @exclusivity(unchecked) @usableFromInline var emptyPages = 0
    @exclusivity(unchecked) @usableFromInline var lastNumber = Int64.min
    @exclusivity(unchecked) @usableFromInline var lastPage: Page?

    init(_ context: Context, slot: Int32) {
        self.context = context
        self.slot = slot
    }

    /// Called for each object that is made.
    @inlinable
    func willHold() {
        if holders == 0 { keepContext() }
        holders &+= 1
    }

    @usableFromInline
    func keepContext() { _ = Unmanaged.passUnretained(context).retain() }

    /// Called when an object goes: its last word, as the map may go with it.
    @inlinable
    func forget(_ key: Int64) {
        remove(key)
        holders &-= 1
        if holders == 0 { dropContext() }
    }

    @usableFromInline
    func dropContext() { Unmanaged.passUnretained(context).release() }

    deinit { for page in pages.values { page.deallocate() } }

    /// The page of a number, remembered as the last one; nil where there is none.
    @usableFromInline
    func turn(to number: Int64) -> Page? {
        guard let page = pages[number] else { return nil }
        lastNumber = number
        lastPage = page
        return page
    }

    @usableFromInline
    func makePage(_ number: Int64) -> Page {
        let page = Page.allocate(capacity: Self.width + 1)
        page.initialize(repeating: 0, count: Self.width + 1)
        pages[number] = page
        emptyPages += 1
        lastNumber = number
        lastPage = page
        return page
    }

    @inlinable
    func page(of key: Int64) -> Page? { key >> 9 == lastNumber ? lastPage : turn(to: key >> 9) }

    /// The object of a key, if one is alive.
    @inlinable
    func object(_ key: Int64) -> UnsafeMutableRawPointer? {
        guard let page = page(of: key) else { return nil }
        return UnsafeMutableRawPointer(bitPattern: page[Int(truncatingIfNeeded: key & 511)])
    }

    @inlinable
    func insert(_ key: Int64, _ object: AnyObject) {
        let page = page(of: key) ?? makePage(key >> 9)
        let at = Int(truncatingIfNeeded: key & 511)
        if page[at] == 0 {
            if page[Self.width] == 0 { emptyPages -= 1 }
            page[Self.width] += 1
        }
        page[at] = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    }

    @inlinable
    func remove(_ key: Int64) {
        let at = Int(truncatingIfNeeded: key & 511)
        guard let page = page(of: key), page[at] != 0 else { return }
        page[at] = 0
        page[Self.width] &-= 1
        if page[Self.width] == 0 { pageBecameEmpty() }
    }

    @usableFromInline
    func pageBecameEmpty() {
        emptyPages += 1
        if emptyPages > Self.keptPages { dropEmptyPages() }
    }

    private func dropEmptyPages() {
        for (number, page) in pages where page[Self.width] == 0 {
            page.deallocate()
            pages[number] = nil
        }
        emptyPages = 0
        lastNumber = .min
        lastPage = nil
    }

    /// The living objects, kept alive by the answer.
    var objects: [AnyObject] {
        pages.values.flatMap { page in
            (0..<Self.width).compactMap { slot in
                UnsafeMutableRawPointer(bitPattern: page[slot]).map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
            }
        }
    }
}
