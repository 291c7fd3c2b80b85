/// The rows that a cursor returns: those after the offset, up to the limit.
struct RowSlice {
    let offset: Int
    let limit: Int?
}
