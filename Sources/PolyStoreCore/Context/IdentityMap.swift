/// The objects of one entity in one context, by key; holds none of them alive.
///
/// Keys come from a sequence and are dense, so pages of 512 pointers with the last page remembered beat a dictionary by far. Pages that
/// have become empty are kept for a while: objects that come and go would otherwise make and drop one each time.
///
/// A map belongs to a context, and a context to one thread at a time; no access to a property lasts longer than a line. Hence the unchecked
/// exclusivity.
@usableFromInline
final class IdentityMap {
    @usableFromInline typealias Slots = UnsafeMutablePointer<UnsafeMutableRawPointer?>

    private final class Page {
        let slots = Slots.allocate(capacity: 512)
        @exclusivity(unchecked) var used = 0
        init() { slots.initialize(repeating: nil, count: 512) }
        deinit { slots.deallocate() }
    }

    /// So many empty pages (of 4 KiB) are kept before all are dropped.
    private static let keptPages = 1024

    @exclusivity(unchecked) private var pages: [Int64: Page] = [:]
    @exclusivity(unchecked) private var emptyPages = 0
    @exclusivity(unchecked) private var lastPage: Page?
    @exclusivity(unchecked) @usableFromInline var lastNumber = Int64.min
    @exclusivity(unchecked) @usableFromInline var lastSlots: Slots?

    init() {}

    /// Remembers a page as the last one, if there is such a page.
    private func find(_ number: Int64) -> Page? {
        if number == lastNumber { return lastPage }
        guard let page = pages[number] else { return nil }
        remember(number, page)
        return page
    }

    private func remember(_ number: Int64, _ page: Page?) {
        lastNumber = page == nil ? .min : number
        lastPage = page
        lastSlots = page?.slots
    }

    @usableFromInline
    func turn(to number: Int64) -> Slots? { find(number)?.slots }

    /// The object of a key, if one is alive.
    @inlinable
    func object(_ key: Int64) -> UnsafeMutableRawPointer? {
        let number = key >> 9
        guard let slots = number == lastNumber ? lastSlots : turn(to: number) else { return nil }
        return slots[Int(truncatingIfNeeded: key & 511)]
    }

    @usableFromInline
    func insert(_ key: Int64, _ object: AnyObject) {
        let number = key >> 9
        let page: Page
        if let known = find(number) {
            page = known
            if page.used == 0 { emptyPages -= 1 }
        } else {
            page = Page()
            pages[number] = page
            remember(number, page)
        }
        let at = Int(truncatingIfNeeded: key & 511)
        if page.slots[at] == nil { page.used += 1 }
        page.slots[at] = Unmanaged.passUnretained(object).toOpaque()
    }

    func remove(_ key: Int64) {
        let at = Int(truncatingIfNeeded: key & 511)
        guard let page = find(key >> 9), page.slots[at] != nil else { return }
        page.slots[at] = nil
        page.used -= 1
        if page.used == 0 {
            emptyPages += 1
            if emptyPages > Self.keptPages { dropEmptyPages() }
        }
    }

    private func dropEmptyPages() {
        remember(0, nil)
        pages = pages.filter { $0.value.used > 0 }
        emptyPages = 0
    }

    /// The living objects, kept alive by the answer.
    var objects: [AnyObject] {
        pages.values.flatMap { page in
            (0..<512).compactMap { page.slots[$0].map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() } }
        }
    }
}
