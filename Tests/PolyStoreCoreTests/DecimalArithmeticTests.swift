import Foundation
import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Arithmetic with decimals in format strings, on each backend.
@Suite struct DecimalArithmeticTests {
    /// Gadgets with these prices, and with the levels 1, 2, 3.
    private static func gadgets(_ backend: Backend) throws -> Gadgets {
        let gadgets = try Gadgets(backend)
        let prices = ["0.1", "2.5", "99999999999999999999999999999999999999"]
        try gadgets.stack.performAndWait { transaction throws in
            for (number, price) in prices.enumerated() {
                let gadget = try transaction.create(Into<Gadget>())
                (gadget.label, gadget.level, gadget.serial) = ("\(number)", Int8(number + 1), .max)
                gadget.price = try #require(Decimal(string: price))
            }
        }
        return gadgets
    }

    @Test(arguments: Backend.forObjectLayer)
    func conditionsCalculateExactly(_ backend: Backend) throws {
        try Self.gadgets(backend).stack.readAndWait { context throws in
            let fifth = try #require(Decimal(string: "0.2"))
            let cases: [(String, [any QueryArgument], [String])] = [
                ("price + %@ == %@", [fifth, try #require(Decimal(string: "0.3"))], ["0"]), ("price * level == 5", [], ["1"]),
                ("price * 3 == 0.3", [], ["0"]), ("2 < price * level", [], ["1"]), ("-price < -2", [], ["1", "2"]),
                ("price - price == 0", [], ["0", "1", "2"]), ("price * price == NULL", [], ["2"]),
                ("price * CAST(0.5, 'NSDecimalNumber') == 1.25", [], ["1"]), ("price + serial == 18446744073709551617.5", [], []),
                ("price + serial > 18446744073709551615 AND price < 3", [], ["0", "1"]),
                ("add:to:(price, level) BETWEEN {1, 2}", [], ["0"]),
                ("TERNARY(level > 1, price * 2, price) IN {5, %@}", [try #require(Decimal(string: "0.1"))], ["0", "1"]),
            ]
            for (format, arguments, expected) in cases {
                let found = try context.fetchAll(From<Gadget>(), Where(format: format, arguments: arguments), OrderBy(.ascending(\.label)))
                #expect(found.map(\.label) == expected, "\(format)")
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer)
    func selectionsCalculateExactly(_ backend: Backend) throws {
        try Self.gadgets(backend).stack.readAndWait { context throws in
            let rows = try context.queryAttributes(
                From<Gadget>(), Select(SelectTerm("price * level", as: "total")), Where("level < 3"), OrderBy(.descending("total")))
            #expect(rows == [["total": .decimal(5)], ["total": .decimal(try #require(Decimal(string: "0.1")))]])
            let sum = try context.queryValue(From<Gadget>(), Select<Decimal>("sum(price * level)"), Where("level < 3"))
            #expect(sum == Decimal(string: "5.1"))
        }
    }

    @Test func divisionAndRealsAreRefusedWithAWayOut() throws {
        try Self.gadgets(.memory).stack.readAndWait { context throws in
            func message(_ format: String) -> String {
                do {
                    return "no error: \(try context.fetchCount(From<Gadget>(), Where(format)))"
                } catch {
                    return (error as? StoreError)?.message ?? "\(error)"
                }
            }
            #expect(message("price / 2 > 1").hasPrefix("/ does not go with decimal and int64. Decimals cannot be divided, because"))
            #expect(message("modulus(price, 2) > 1").contains("not decimal and int64. Decimals cannot be divided, because"))
            #expect(message("price * 1.19 > 1").hasPrefix("* does not go with decimal and double. A real is not exact. Pass a Decimal"))
            #expect(message("weight + price > 1").hasPrefix("+ does not go with double and decimal. A real is not exact."))
            #expect(message("abs(price) > 1").contains("Stores compare, sort, add, subtract and multiply decimals"))
            #expect(message("price + label == 1").contains("+ does not go with decimal and string."))
        }
    }
}
