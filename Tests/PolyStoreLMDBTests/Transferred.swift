/// Passes a value between threads on purpose.
struct Transferred<Value>: @unchecked Sendable {  // each test uses the value on one thread at a time
    let value: Value
}
