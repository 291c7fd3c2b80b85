import PolyStoreBackend

/// Every condition of ``relatedConditions``, in every kind of request.
let relatedCases: [ConformanceCase] =
    relatedConditions.map(\.asCase) + [
        ConformanceCase("related.ways.counts", "Counts, and counts of aggregates, equal the number of rows.") { run in
            let (works, store) = (Works.start, try Works.start.open(run))
            try store.store.read { transaction in
                for condition in relatedConditions {
                    let request = try store.request(condition.entity, condition.predicate(store))
                    let expected = condition.selected(works)
                    try run.expect(try transaction.count(request), equals: expected.count, condition.id)
                    let aggregates = AggregateRequest(
                        request.entity, predicate: request.predicate, aggregates: [.count, .minimum(.objectID)])
                    try run.expect(
                        try transaction.aggregate(aggregates)[0].values,
                        equals: [.integer(Int64(expected.count)), expected.first.map { .integer($0) } ?? .null], condition.id)
                }
            }
        },
        ConformanceCase("related.ways.groups", "Groups cover the selected objects.") { run in
            let (works, store) = (Works.start, try Works.start.open(run))
            let age = try store.field("age")
            for condition in relatedConditions where condition.entity == "Worker" {
                let request = AggregateRequest(
                    try store.store.entity("Worker"), predicate: try condition.predicate(store), groupBy: [age], aggregates: [.count])
                var expected: [Int64?: Int64] = [:]
                for id in condition.selected(works) { expected[works[id].age, default: 0] += 1 }
                let rows = try store.store.read { try $0.aggregate(request) }
                try run.expect(rows.count, equals: expected.count, condition.id)
                for row in rows {
                    guard case .integer(let count) = row.values[0] else { throw run.fail("\(condition.id): no number") }
                    let key: Int64? = if case .integer(let age) = row.group[0] { age } else { nil }
                    try run.expect(expected[key], equals: count, condition.id)
                }
            }
        },
        ConformanceCase("related.ways.order-limit-offset", "Order, limit and offset apply to the selected rows.") { run in
            let (works, store) = (Works.start, try Works.start.open(run))
            for condition in relatedConditions {
                let all = condition.selected(works)
                for (limit, offset) in [(2, 0), (3, 1), (.max, 2), (1, 100), (0, 0)] as [(Int, Int)] {
                    for isAscending in [true, false] {
                        var request = try store.request(condition.entity, condition.predicate(store))
                        request.sortKeys = [SortKey(.objectID, ascending: isAscending)]
                        (request.limit, request.offset) = (limit, offset)
                        let expected = Array((isAscending ? all : all.reversed()).dropFirst(offset).prefix(limit))
                        let what = "\(condition.id) limit \(limit) offset \(offset) ascending \(isAscending)"
                        try run.expect(try store.store.ids(request), equals: expected, what)
                        try run.expect(try store.store.read { try $0.count(request) }, equals: expected.count, "count, \(what)")
                    }
                }
                if condition.entity == "Worker" {
                    var request = try store.request("Worker", condition.predicate(store))
                    request.sortKeys = [SortKey(try store.field("age"), ascending: false, nulls: .first)]
                    (request.limit, request.offset) = (3, 1)
                    // No age equals a missing one.
                    let sorted = all.sorted { left, right in
                        let (first, second) = (works[left].age ?? .max, works[right].age ?? .max)
                        let isNull = (works[left].age == nil, works[right].age == nil)
                        if isNull.0 != isNull.1 { return isNull.0 }
                        return first == second ? left < right : first > second
                    }
                    try run.expect(try store.store.ids(request), equals: Array(sorted.dropFirst(1).prefix(3)), "\(condition.id) by age")
                }
            }
        },
        ConformanceCase("related.ways.without-indexes", "The results are the same without indexes.") { run in
            let (works, store) = (Works.start, try Works.start.open(run))
            for condition in relatedConditions {
                var request = try store.request(condition.entity, condition.predicate(store))
                request.ignoresIndexes = true
                try run.expect(try store.store.ids(request), equals: condition.selected(works), condition.id)
                try run.expect(
                    try store.store.read { try $0.count(request) }, equals: condition.selected(works).count, "count, \(condition.id)")
                request.predicate = .not(request.predicate)
                try run.expect(try store.store.ids(request), equals: condition.rejected(works), "NOT \(condition.id)")
            }
        },
        ConformanceCase("related.ways.ids-and-fields", "A fetch of ids or of some fields selects the same objects.") { run in
            let (works, store) = (Works.start, try Works.start.open(run))
            for condition in relatedConditions {
                var request = try store.request(condition.entity, condition.predicate(store))
                request.onlyIDs = true
                try run.expect(try store.store.ids(request), equals: condition.selected(works), "ids of \(condition.id)")
                request.onlyIDs = false
                request.fields = FieldMask(first: 1)
                try run.expect(try store.store.ids(request), equals: condition.selected(works), "a field of \(condition.id)")
                request.fields = FieldMask()
                try run.expect(try store.store.ids(request), equals: condition.selected(works), "no field of \(condition.id)")
            }
        },
        ConformanceCase(
            "related.ways.beside-each-other", "AND and OR with a condition on the object follow three-valued logic on both sides."
        ) { run in
            let (works, store) = (Works.start, try Works.start.open(run))
            for condition in relatedConditions {
                let (predicate, other) = (try condition.predicate(store), QueryPredicate.compare(.objectID, .less, .integer(4)))
                let (yes, no) = (Set(condition.selected(works)), Set(condition.rejected(works)))
                let all = works.ids(condition.entity)
                let low = Set(all.filter { $0 < 4 })
                func check(_ predicate: QueryPredicate, _ expected: Set<Int64>) throws {
                    try run.expect(try store.ids(condition.entity, predicate), equals: expected.sorted(), "\(condition.id): \(predicate)")
                }
                try check(.and([other, predicate]), low.intersection(yes))
                try check(.or([predicate, other]), low.union(yes))
                try check(.not(.and([predicate, other])), Set(all).subtracting(low).union(no))
                try check(.not(.or([other, predicate])), Set(all).subtracting(low).intersection(no))
                try check(.and([predicate, .not(predicate)]), [])
            }
        },
        ConformanceCase("related.ways.pairs", "Two conditions on related objects can be combined.") { run in
            let (works, store) = (Works.start, try Works.start.open(run))
            let workers = relatedConditions.filter { $0.entity == "Worker" }
            for (index, first) in workers.enumerated() {
                let second = workers[(index * 7 + 3) % workers.count]
                let (left, right) = (try first.predicate(store), try second.predicate(store))
                let (one, other) = (Set(first.selected(works)), Set(second.selected(works)))
                try run.expect(
                    try store.ids("Worker", .and([left, right])), equals: one.intersection(other).sorted(), "\(left) AND \(right)")
                try run.expect(try store.ids("Worker", .or([left, right])), equals: one.union(other).sorted(), "\(left) OR \(right)")
            }
        },
        ConformanceCase(
            "related.ways.inside-a-write", "A write transaction includes its pending changes, and an earlier reader does not."
        ) { run in
            let works = Works.start
            let store = try works.open(run)
            let isConcurrent = run.target.capabilities.contains(.concurrentReaders)
            let reader = isConcurrent ? try store.store.backend.beginRead() : nil
            defer { reader?.end() }
            var after = works
            try store.store.write { transaction in
                let changes = ChangeSet(store.store.schema)
                after = try works.changed(store, changes)
                try transaction.apply(changes)
                for condition in relatedConditions {
                    var request = try store.request(condition.entity, condition.predicate(store))
                    for ignoresIndexes in [false, true] {
                        request.ignoresIndexes = ignoresIndexes
                        let what = "\(condition.id), without indexes \(ignoresIndexes)"
                        try run.expect(try transaction.ids(request), equals: condition.selected(after), what)
                        try run.expect(try transaction.count(request), equals: condition.selected(after).count, "count, \(what)")
                        if let reader { try run.expect(try reader.ids(request), equals: condition.selected(works), "a reader, \(what)") }
                    }
                }
            }
            for condition in relatedConditions {
                let request = try store.request(condition.entity, condition.predicate(store))
                try run.expect(try store.store.ids(request), equals: condition.selected(after), "committed, \(condition.id)")
                if let reader { try run.expect(try reader.ids(request), equals: condition.selected(works), "older, \(condition.id)") }
            }
        },
        ConformanceCase("related.ways.after-a-rollback", "Rolled back changes do not affect conditions.") { run in
            let works = Works.start
            let store = try works.open(run)
            let transaction = try store.store.backend.beginWrite()
            let changes = ChangeSet(store.store.schema)
            _ = try works.changed(store, changes)
            try transaction.apply(changes)
            for condition in relatedConditions {
                _ = try transaction.ids(try store.request(condition.entity, condition.predicate(store)))
            }
            transaction.rollback()
            for condition in relatedConditions {
                try run.expect(
                    try store.ids(condition.entity, condition.predicate(store)), equals: condition.selected(works), condition.id)
            }
        },
        ConformanceCase("related.ways.walks-in-turn", "Alternating cursors with several such conditions are independent.") { run in
            let (works, store) = (Works.start, try Works.start.open(run))
            try store.store.read { transaction in
                let cursors = try relatedConditions.map { try transaction.fetch(try store.request($0.entity, $0.predicate(store))) }
                defer { for cursor in cursors { cursor.close() } }
                var found = relatedConditions.map { _ in [Int64]() }
                var open = Set(cursors.indices)
                while !open.isEmpty {
                    for index in open.sorted() {
                        if try cursors[index].next() { found[index].append(cursors[index].rowID) } else { open.remove(index) }
                    }
                }
                for (condition, ids) in zip(relatedConditions, found) {
                    try run.expect(ids, equals: condition.selected(works), condition.id)
                }
            }
        },
        ConformanceCase("related.ways.empty-store", "In an empty store, nothing is selected.") { run in
            let store = try WorksStore(try run.open(Works.schema))
            for condition in relatedConditions {
                try run.expect(try store.ids(condition.entity, condition.predicate(store)), equals: [], condition.id)
            }
        },
        ConformanceCase("related.ways.reopened", "The results are the same after reopening.", requires: [.persistence]) { run in
            let works = Works.start
            let store = try works.open(run)
            try store.store.backend.close()
            let again = try WorksStore(try run.open(Works.schema))
            for condition in relatedConditions {
                try run.expect(
                    try again.ids(condition.entity, condition.predicate(again)), equals: condition.selected(works), condition.id)
            }
        },
        ConformanceCase("related.ways.many-objects", "Results are correct with many related objects each.") { run in
            var works = Works(workers: [:], teams: [:], clubs: Works.start.clubs)
            for id in 1...40 as ClosedRange<Int64> {
                works.teams[id] = Works.Team(title: "t\(id)", budget: id % 7 == 0 ? nil : id, tags: [id % 4 + 1])
            }
            for id in 1...200 as ClosedRange<Int64> {
                works.workers[id] = Works.Worker(
                    name: "n\(id % 90)", age: id % 11 == 0 ? nil : id % 60, level: UInt64(id % 9), team: id % 13 == 0 ? nil : id % 40 + 1,
                    boss: id % 3 == 0 ? nil : id / 3 + 1, clubs: id % 5 == 0 ? [] : [id % 4 == 3 ? 2 : 1])
            }
            let store = try works.open(run)
            for condition in relatedConditions {
                try run.expect(try store.ids(condition.entity, condition.predicate(store)), equals: condition.selected(works), condition.id)
            }
        },
    ]
