import PolyStoreBackend

/// The objects of one entity in one context, by key; holds none of them alive.
///
/// Keys come from a sequence and are dense, so pages of 512 pointers with the last page remembered beat a dictionary by far.
@usableFromInline
final class IdentityMap {
    @usableFromInline typealias Slots = UnsafeMutablePointer<UnsafeMutableRawPointer?>

    private final class Page {
        let slots = Slots.allocate(capacity: 512)
        var used = 0
        init() { slots.initialize(repeating: nil, count: 512) }
        deinit { slots.deallocate() }
    }

    private var pages: [Int64: Page] = [:]
    @usableFromInline var lastNumber = Int64.min
    @usableFromInline var lastSlots: Slots?

    init() {}

    @usableFromInline
    func turn(to number: Int64) -> Slots? {
        guard let page = pages[number] else { return nil }
        lastNumber = number
        lastSlots = page.slots
        return page.slots
    }

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
        if let known = pages[number] {
            page = known
        } else {
            page = Page()
            pages[number] = page
        }
        lastNumber = number
        lastSlots = page.slots
        let at = Int(truncatingIfNeeded: key & 511)
        if page.slots[at] == nil { page.used += 1 }
        page.slots[at] = Unmanaged.passUnretained(object).toOpaque()
    }

    func remove(_ key: Int64) {
        let number = key >> 9
        let at = Int(truncatingIfNeeded: key & 511)
        guard let page = pages[number], page.slots[at] != nil else { return }
        page.slots[at] = nil
        page.used -= 1
        if page.used == 0 {
            pages[number] = nil
            if lastNumber == number {
                lastNumber = .min
                lastSlots = nil
            }
        }
    }

    /// The living objects, kept alive by the answer.
    var objects: [AnyObject] {
        pages.values.flatMap { page in
            (0..<512).compactMap { page.slots[$0].map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() } }
        }
    }
}
