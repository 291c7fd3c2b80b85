/// A stack of values from which containers are built without copying.
struct ValueStack: ~Copyable {
    private var base: UnsafeMutablePointer<JSONValue>
    private var capacity: Int
    private(set) var count = 0

    init() {
        capacity = 64
        base = .allocate(capacity: capacity)
    }

    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    @inline(__always)
    mutating func push(_ value: consuming JSONValue) {
        if count == capacity { grow() }
        (base + count).initialize(to: value)
        count += 1
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<JSONValue>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: base, count: count)
        base.deallocate()
        base = larger
        capacity *= 2
    }

    /// Removes the values from `start` on and returns them.
    @inline(__always)
    mutating func pop(from start: Int) -> [JSONValue] {
        let popped = count - start
        if popped == 0 { return [] }
        let source = base + start
        count = start
        return [JSONValue](unsafeUninitializedCapacity: popped) { buffer, initialized in
            buffer.baseAddress.unsafelyUnwrapped.moveInitialize(from: source, count: popped)
            initialized = popped
        }
    }

    mutating func removeAll() {
        base.deinitialize(count: count)
        count = 0
    }
}

extension ValueStack {
    /// Removes the values above `limit` if all of them are null or empty text; otherwise removes nothing and returns false.
    mutating func truncateNulls(to limit: Int) -> Bool {
        let extra = pop(from: limit)
        if extra.allSatisfy({ $0.isNull || $0 == .string("") }) { return true }
        for value in extra { push(value) }
        return false
    }
}
